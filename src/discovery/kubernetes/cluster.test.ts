import { describe } from 'vitest';
import { startStandIn } from '../../../test/support/kube/cluster.ts';
import { noControlPlane, startControlPlane } from '../../../test/support/kube/control-plane.ts';
import { clusterSuite } from './cluster.suite.ts';

clusterSuite('the stand-in', startStandIn);

describe.skipIf(noControlPlane() !== null)('KUBE_APISERVER and ETCD', () => {
  clusterSuite('a real kube-apiserver', startControlPlane);
});
