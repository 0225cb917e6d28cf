import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

export const searchMethods = [
  method({
    name: 'messages.search',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'Finds what users said and agents answered: all of the words, `"words in a row"`, `begin*`; the last word may be a beginning, from its third letter on. The most relevant first, then the newest. Nothing that is typed is an error.',
    params: z.strictObject({
      text: z.string().max(10_000),
      sessionId: wire.sessionId.exactOptional(),
      limit: z.int().min(1).max(100).default(20),
      cursor: z.string().min(1).max(100).exactOptional().describe('`next` of the page before'),
    }),
    result: z.object({ hits: z.array(wire.searchHit), next: z.string().nullable() }),
    handler: (params, { engine }) => engine.search(params),
  }),
]
