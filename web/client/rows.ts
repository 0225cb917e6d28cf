import type { Api } from '../../src/dialects/native/calls.ts'

type Watched = Api['session.watch']['result']

/** One session in the list. */
export type SessionRow = Watched['sessions'][number]
export type Counts = Watched['counts']

/** The whole list, or what has changed in it. */
export type RowsUpdate =
  | ({ kind: 'all' } & Omit<Watched, 'watchId'>)
  | { kind: 'some'; seq: number; changed: SessionRow[]; removed: string[]; counts: Counts }

export type WatchParams = Api['session.watch']['params']
