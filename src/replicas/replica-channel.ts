/** Short messages between the replicas of one deployment, by topic. Best effort: what is sent while the way is down is lost. */
export interface ReplicaChannel {
  /** Name of this replica: of its pick ids, and unique among the replicas. 8 hexadecimal digits. */
  readonly self: string;
  /** False while the way is down: nothing was sent. Never waits. */
  publish(topic: string, message: string): boolean;
  /** Answers with an end of the subscription. The own messages of a topic come back as well. */
  subscribe(topic: string, listener: (message: string) => void): () => void;
}
