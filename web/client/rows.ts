export type { Counts, SessionRow } from '../../src/client/api.ts'
