import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, type EnvoyHandle, freePort, startEnvoy, until } from '../support/services.ts';
import { envoyConfig, type Stack, startStack } from '../support/stack.ts';

const CHAT = '/v1/chat/completions';
const HEADERS = { 'content-type': 'application/json' };

/** A worker that answers with the trailers it got, in its body and as trailers of its own. */
function trailingWorker(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', trailer: 'x-usage' });
      response.write(JSON.stringify(request.trailers));
      response.addTrailers({ 'x-usage': '42' });
      response.end();
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Trailers of requests and of answers pass, by HTTP/1.1 and by HTTP/2. */
export function trailers(flags: readonly string[]): void {
  let worker: Server;
  let stack: Stack;
  let fullDuplex: EnvoyHandle;
  beforeAll(async () => {
    worker = await trailingWorker();
    const url = `http://127.0.0.1:${(worker.address() as AddressInfo).port}`;
    stack = await startStack({ known: 0, flags: [...flags, '--worker-urls', url] });
    await until(async () => [...(await stack.endpoints()).values()].includes('healthy'), 'the worker is known');
    const ports = ['--grpc-port', String(stack.service.grpcPort), '--listen', `127.0.0.1:${await freePort()}`];
    fullDuplex = await startEnvoy(await envoyConfig([...flags, ...ports, '--mode', 'ext-proc-full-duplex']));
    await until(async () => (await ask(fullDuplex.url)).status === 200, 'the worker is known there, too');
  });
  const urlOf = (mode: string): string => (mode === 'ext-proc' ? stack.url : fullDuplex.url);
  const MODES = ['ext-proc', 'ext-proc-full-duplex'];
  afterAll(async () => {
    await fullDuplex?.stop();
    await stack?.close();
    worker?.close();
  });

  it.each(MODES)('HTTP/1.1, mode %s', async (mode) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...HEADERS, te: 'trailers', trailer: 'x-sum', 'transfer-encoding': 'chunked' };
      const request = httpRequest(urlOf(mode) + CHAT, { method: 'POST', headers }, resolve);
      request.on('error', reject);
      request.write('{"rid":"a_t1"}');
      request.addTrailers({ 'x-sum': '7' });
      request.end();
    });
    let text = '';
    for await (const chunk of response) text += chunk;
    expect([response.statusCode, JSON.parse(text), response.trailers]).toEqual([
      200,
      { 'x-sum': '7' },
      { 'x-usage': '42' },
    ]);
  });

  it.each(MODES)('HTTP/2, mode %s', async (mode) => {
    const session = connectHttp2(urlOf(mode));
    const got = await new Promise<{ text: string; trailers: IncomingHttpHeaders }>((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': CHAT, ...HEADERS }, {
        waitForTrailers: true,
      } as object);
      let text = '';
      let trailing: IncomingHttpHeaders = {};
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }));
      stream.on('data', (chunk) => {
        text += chunk;
      });
      stream.on('trailers', (headers) => {
        trailing = headers;
      });
      stream.on('error', reject);
      stream.on('end', () => resolve({ text, trailers: trailing }));
      stream.end('{"rid":"b_t1"}');
    });
    session.close();
    expect(JSON.parse(got.text)).toEqual({ 'x-sum': '7' });
    expect(got.trailers['x-usage']).toBe('42');
  });
}
