/** The two questions to the API server. A failure is a value: what is known stays, whatever it is. */

/** What a page of the list holds. */
export type ListAnswer =
  | {
      readonly kind: 'page';
      readonly items: readonly unknown[];
      /** From where a watch goes on. */
      readonly resourceVersion: string;
      /** Names the next page; empty after the last. */
      readonly continueToken: string;
    }
  /** The pages that would follow are forgotten: the list has to begin anew. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly problem: string };

/** How a watch ended. `gone`: the server has forgotten the version, and only a list helps. */
export type WatchEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly problem: string };

export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

export interface WatchHandlers {
  /** The server has taken the watch. */
  opened(): void;
  /** One event. False ends the watch, which answers `ended`. */
  event(event: WatchEvent): boolean;
}

/** The API server, as far as pods go. Neither question ever rejects. */
export interface PodApi {
  /** One page. `paged`: false for the whole list at once. */
  list(continueToken: string, paged: boolean, signal: AbortSignal): Promise<ListAnswer>;
  watch(resourceVersion: string, handlers: WatchHandlers, signal: AbortSignal): Promise<WatchEnd>;
}
