import { expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { TestSource } from '../../test/support/test-source.ts';
import { createLog } from '../telemetry/log.ts';
import { warnOfSharedAddresses } from './shared-addresses.ts';

it('warns once of a worker that has the address of another, and again when it comes back', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', json: true, destination: { write: (line: string) => lines.push(line) } });
  const at = (id: string, address: string) => makeWorker(id, { address });
  const source = new TestSource();
  source.set(at('http://a:1', '10.0.0.1:1'), at('http://unresolved-1:1', ''), at('http://unresolved-2:1', ''));
  const undo = warnOfSharedAddresses(source, log);
  expect(lines).toEqual([]);

  const both = [at('http://a:1', '10.0.0.1:1'), at('http://b:1', '10.0.0.1:1')];
  source.set(...both);
  source.set(...both);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { worker: 'http://b:1', address: '10.0.0.1:1', reason: 'shared with http://a:1' },
  ]);

  source.set(at('http://a:1', '10.0.0.1:1'));
  source.set(...both);
  expect(lines).toHaveLength(2);

  const rank = (id: number) => makeWorker(`http://e:1@${id}`, { url: 'http://e:1', rank: id, address: '10.0.0.2:1' });
  source.set(rank(0), rank(1));
  expect(lines).toHaveLength(2);

  undo();
  source.set(at('http://a:1', '10.0.0.1:1'));
  source.set(...both);
  expect(lines).toHaveLength(2);
});
