/** Several replicas that share their pins: what clients see while some of it fails, and what sharing costs. */
import { figure, signed, table } from './format.mjs';
import { from } from './sources.mjs';

const NAMES = {
  'memory-store': 'no shared store',
  spray: 'shared, key in a header',
  'spray-rid': 'shared, key in the body',
  'spray-trigger': 'key in a header, `--pin-inflight-cap` 2',
  kills: 'replicas killed, key in a header',
  'kills-rid': 'replicas killed, key in the body',
  rolling: 'rolling restart of two replicas',
};

function playedTable(proofs) {
  const rows = Object.entries(NAMES)
    .filter(([name]) => proofs[name] !== undefined)
    .map(([name, title]) => {
      const { requests, conversations, perSecond, errors, splits, alone, unpicked, kills, restarts } = proofs[name];
      const lost = kills ?? restarts;
      return [title, conversations, requests, perSecond, lost, errors, splits, lost > 0 ? null : alone, unpicked].map(
        (each, index) => (index === 0 ? each : figure(each)),
      );
    });
  const head = [
    '',
    'conversations',
    'requests',
    'a second',
    'replicas lost',
    'errors',
    'split',
    'decided alone',
    'placed by Envoy',
  ];
  return table(head, rows);
}

function outageTable(proofs) {
  const rows = [
    ['Redis killed, its data lost', proofs['redis-killed']],
    ['Redis stopped, connections open', proofs['redis-stopped']],
  ].filter(([, row]) => row !== undefined);
  return table(
    ['', 'errors', 'added p99', 'longest wait of a new key, before', 'first second', 'later', 'agreed after'],
    rows.map(([title, { errors, addedP99Ms, calm, noticing, away, agreedMs }]) => [
      title,
      figure(errors),
      signed(addedP99Ms, 'ms'),
      ...[calm, noticing, away].map(({ newMaxMs }) => figure(newMaxMs, 'ms')),
      figure(agreedMs, 'ms'),
    ]),
  );
}

function splitTable(proofs) {
  const rows = [
    ['Redis killed', proofs['redis-killed']],
    ['Redis stopped', proofs['redis-stopped']],
  ].filter(([, row]) => row !== undefined);
  return table(
    [
      'split conversations',
      'known to all replicas',
      'begun shortly before',
      'begun meanwhile',
      'begun after',
      'of all',
    ],
    rows.map(([title, { split, conversations }]) => [
      title,
      ...[split.known, split.begunBefore, split.begunAway, split.begunAfter, conversations].map((each) => figure(each)),
    ]),
  );
}

function costTable({ known, fresh, memory }) {
  const [one, two] = memory.rows;
  return table(
    ['', ''],
    [
      ['decision of a known key, pins in memory', figure(known.memoryMicros, 'µs')],
      ['the same with Redis, in the same run', `${figure(known.redisMicros, 'µs')}, ratio ${figure(known.ratio)}`],
      [`wait of a new key for Redis, ${figure(fresh.perSecond)} a second: p50`, figure(fresh.p50Ms, 'ms')],
      ['p99', figure(fresh.p99Ms, 'ms')],
      ['processor time of a new key: the service', figure(fresh.serviceCpuMicros, 'µs')],
      ['Redis', figure(fresh.redisCpuMicros, 'µs')],
      [`a pin beside its key in the process, ${figure(memory.pins)} pins`, figure(one.processBytes, 'bytes')],
      ['a pin in Redis, all of it: one worker of 20 characters', figure(one.redisBytes, 'bytes')],
      ['two workers', figure(two.redisBytes, 'bytes')],
    ],
  );
}

export function replicasText(ha) {
  const { proofs, settings } = ha;
  const { moves, costs } = proofs;
  return `## Several replicas

${from(ha)}

${settings.replicas} replicas behind one Envoy with two worker threads, ${settings.workers} workers, one Redis ${ha.versions.redis}. Turns go to the replicas in rotation,
whatever their conversation; ${settings.racing} first requests of each are sent at once. ${settings.abreast} conversations at a time, each sending
as soon as it has its answer: the machine is busy to the last. A conversation is split when two of its requests were served by different workers.
\`--pin-inflight-cap 0\`, but where it says otherwise. One replica after the other is killed (SIGKILL) every ${figure(settings['kill-every-ms'] / 1000, 's')} and started again at once.

${playedTable(proofs)}

${aloneText(proofs, settings)}Ends of requests are told by Envoy. Where both first requests of a conversation are still believed to run when its next turn comes, the
trigger of \`--pin-inflight-cap\` places that anew; that this is so of the conversations above is likely and not traced.

A request whose body a replica was reading when it was killed goes on without it: Envoy places it. A header key needs no body
(\`--routing-key-order header-first\`).

${moves === undefined ? '' : `${figure(moves.moves)} pins were moved by \`PUT /pins/{key}\` at one replica or another: every replica went by the new worker after ${figure(moves.p50Ms, 'ms')} (p50), ${figure(moves.p99Ms, 'ms')} (p99), ${figure(moves.maxMs, 'ms')} (the longest), counted from the call; none went back.\n\n`}Redis away for ${figure(settings.seconds, 's')} under ${figure(settings['outage-rate'])} requests a second, half of them of conversations that begin all the time. Added is what the p99 of
all requests is higher than in the seconds before, from the second after the loss.

${outageTable(proofs)}

${splitTable(proofs)}

A conversation that begins meanwhile is placed by each replica that meets it. When Redis is back, the replicas agree on one of its workers.

${costs === undefined ? '' : costTable(costs)}
`;
}

/** Claims that the store did not answer in time. */
function aloneText(proofs, settings) {
  const alone = Object.values(proofs).reduce((sum, { alone = 0 }) => sum + alone, 0);
  if (alone === 0) return '';
  return `${figure(alone)} claims of new keys had no answer within the ${settings['claim-timeout-ms']} ms of \`--pin-claim-timeout-ms\`, on a machine without idle processor time,
and were decided by one replica alone: some of these conversations had a first request on each of two workers, and went on at one of them.\n\n`;
}
