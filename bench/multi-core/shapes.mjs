/** Ways to spread one load. The others are held against the first. */
export const SHAPES = [
  { name: 'memory', title: 'one process, pins in memory', processes: 1, shared: false },
  { name: 'redis-1', title: 'one process, pins in Redis', processes: 1, shared: true },
  { name: 'redis-2', title: 'two processes, pins in Redis', processes: 2, shared: true },
  { name: 'redis-4', title: 'four processes, pins in Redis', processes: 4, shared: true },
];
