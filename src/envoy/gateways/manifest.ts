import { commentedYaml } from '../bootstrap/commented-yaml.ts';
import type { Config } from '../bootstrap/typed.ts';
import type { Labels, Reference } from './options.ts';

/** Name of every object that is the service's own. */
export const NAME = 'smg-envoy';

/** Labels of every object, and what selects the pods. */
export const LABELS: Labels = { 'app.kubernetes.io/name': NAME };

/** An object of the Kubernetes API: plain data with comments, see commented-yaml.ts. */
export type Manifest = Config;

/** A manifest; `about` is the comment above it. */
export function manifest(apiVersion: string, kind: string, at: Reference, about: string, body: Config): Manifest {
  return {
    '#': about,
    apiVersion,
    kind,
    metadata: { name: at.name, namespace: at.namespace, labels: LABELS },
    ...body,
  };
}

/** Manifests as one YAML stream. */
export function manifestYaml(manifests: readonly Manifest[]): string {
  return manifests.map((one) => commentedYaml(one)).join('---\n');
}
