import { type OnReadOpts, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const READ_BYTES = 64 * 1024;
/** Of all connections: what was read is handled before anything else is. */
const memory = Buffer.allocUnsafeSlow(READ_BYTES);

/** What Node keeps of a connection beneath a socket. */
interface WithHandle {
  _handle: object | null;
}

/**
 * The socket to use for a connection that was accepted. Each read goes to the same memory, where Node takes new memory for it by
 * itself: at long prompts that made V8 collect all garbage many times a second (ADR 0030). Node has this for sockets that connect
 * (`onread`), not for those that a server accepts, so the connection moves to a socket that has it. The accepted one stays what
 * the server knows of it: each of the two closes the other.
 *
 * With TLS, and should the connection not be where Node has it now, reads come as usual.
 *
 * @param take gets each piece, which holds during the call only
 */
export function readingIntoSharedMemory(accepted: Socket, take: (piece: Buffer) => void): Socket {
  const handle = accepted instanceof TLSSocket ? null : handleOf(accepted);
  if (handle === null) {
    accepted.on('data', take);
    return accepted;
  }
  const onread: OnReadOpts = {
    buffer: memory,
    callback(bytes) {
      take(memory.subarray(0, bytes));
      return true;
    },
  };
  (accepted as unknown as WithHandle)._handle = null;
  // Types know neither of the two here.
  const socket = new Socket({ handle, onread } as object);
  socket.once('close', () => accepted.destroy());
  accepted.once('close', () => socket.destroy());
  return socket;
}

function handleOf(socket: Socket): object | null {
  const handle = (socket as unknown as WithHandle)._handle;
  return typeof handle === 'object' && handle !== null && 'useUserBuffer' in handle ? handle : null;
}
