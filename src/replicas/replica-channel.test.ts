import { ReplicaHub } from '../../test/support/replica-hub.ts';
import { replicaChannelSuite } from './replica-channel.suite.ts';

replicaChannelSuite('the model of tests', () => {
  const hub = new ReplicaHub();
  return { a: hub.join('0000000a'), b: hub.join('0000000b'), delivered: () => hub.deliver() };
});
