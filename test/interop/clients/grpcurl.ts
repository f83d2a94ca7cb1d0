import { DescriptorIndex } from '../../../src/envoy/reflection/descriptor-index.ts';
import { SERVER_NAME, socketPath, type Target } from '../way.ts';
import { runProgram } from './run-program.ts';

/** What grpcurl was told. */
export interface GrpcurlAnswer {
  /** Names of services, by reflection. */
  readonly services: readonly string[];
  /** The answer of the health check, as JSON by the descriptors of reflection. */
  readonly health: unknown;
}

export const GRPCURL_ANSWER: GrpcurlAnswer = {
  services: [...new DescriptorIndex().services].sort(),
  health: { status: 'SERVING' },
};

/** Lists what the port serves and asks for its health; grpcurl knows neither but by reflection. */
export async function askByGrpcurl(grpcurl: string, target: Target): Promise<GrpcurlAnswer> {
  const path = socketPath(target);
  const how = [
    ...(target.way.tls ? ['-cacert', target.caPath, '-authority', SERVER_NAME] : ['-plaintext']),
    ...(path === null ? [target.address] : ['-unix', path]),
  ];
  const list = await runProgram(grpcurl, [...how, 'list']);
  const health = await runProgram(grpcurl, [...how, 'grpc.health.v1.Health/Check']);
  return { services: list.trim().split('\n').sort(), health: JSON.parse(health) };
}
