import { ServerReflectionRequest, ServerReflectionResponse } from '../../gen/grpc/reflection/v1/reflection.ts';
import { type Call, type CallHandler, GrpcStatus, type Method } from '../../transport/transport.ts';
import { DescriptorIndex } from './descriptor-index.ts';

type Answer = NonNullable<ServerReflectionResponse['messageResponse']>;

/** `grpc.reflection.v1.ServerReflection`: lets grpcurl and its like list and describe what this port serves. */
export class ReflectionService {
  readonly methods: readonly Method[];
  readonly #index = new DescriptorIndex();
  readonly #open = new Set<Call>();

  constructor() {
    this.methods = [
      { path: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', open: (call) => this.#accept(call) },
    ];
  }

  /** Ends the streams that are open. */
  close(): void {
    for (const call of this.#open) call.end();
  }

  #accept(call: Call): CallHandler {
    this.#open.add(call);
    return {
      message: (bytes) => this.#reply(call, bytes),
      halfClosed: () => call.end(),
      closed: () => {
        this.#open.delete(call);
      },
    };
  }

  #reply(call: Call, bytes: Buffer): void {
    let request: ServerReflectionRequest;
    try {
      request = ServerReflectionRequest.decode(bytes);
    } catch {
      call.end(GrpcStatus.invalidArgument, 'not a ServerReflectionRequest');
      return;
    }
    const response = ServerReflectionResponse.encode({
      validHost: request.host,
      originalRequest: request,
      messageResponse: this.#answer(request),
    });
    call.send(response.finish());
  }

  #answer({ messageRequest: question }: ServerReflectionRequest): Answer {
    switch (question?.$case) {
      case 'listServices':
        return {
          $case: 'listServicesResponse',
          value: { service: this.#index.services.map((name) => ({ name })) },
        };
      case 'fileByFilename':
        return files(this.#index.fileNamed(question.value));
      case 'fileContainingSymbol':
        return files(this.#index.fileDeclaring(question.value));
      case 'allExtensionNumbersOfType':
        // None of our messages can be extended, so a known one has none.
        return this.#index.fileDeclaring(question.value) === undefined
          ? notFound()
          : { $case: 'allExtensionNumbersResponse', value: { baseTypeName: question.value } };
      case 'fileContainingExtension':
        return notFound();
      case undefined:
        return failure(GrpcStatus.unimplemented, 'unknown kind of request');
    }
  }
}

function files(found: Buffer[] | undefined): Answer {
  if (found === undefined) return notFound();
  return { $case: 'fileDescriptorResponse', value: { fileDescriptorProto: found } };
}

function notFound(): Answer {
  return failure(GrpcStatus.notFound, 'not found');
}

function failure(errorCode: GrpcStatus, errorMessage: string): Answer {
  return { $case: 'errorResponse', value: { errorCode, errorMessage } };
}
