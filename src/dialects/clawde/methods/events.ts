import { z } from 'zod'
import { bundleOf, EVERYTHING } from '../broadcast.ts'
import { ClawdeError } from '../errors.ts'
import { method } from '../method.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

export const eventMethods = [
  method({
    name: 'events.subscribe',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary: 'Chooses what this connection is told, and from where in the log: replays, then follows.',
    changes: true,
    params: z.object({
      after: z
        .int()
        .min(0)
        .exactOptional()
        .describe('the `seq` of the last push that you have; now, if not given'),
      log: z.string().exactOptional().describe('the `log.id` of `daemon.status` that it belongs to'),
      sessions: z.array(z.string()).exactOptional().describe('only of these'),
      types: z.array(z.string()).exactOptional().describe('only these pushes'),
    }),
    result: z.object({
      after: z.number(),
      head: z.number(),
      log: z.string(),
      gap: z.boolean().describe('events between `after` and the first one are no longer kept'),
    }),
    handler({ after: wanted, log, sessions, types }, context) {
      const { engine, stream, version } = context
      const { logId, head, oldest } = engine.events
      if ((log !== undefined && log !== logId) || (wanted ?? 0) > head) {
        throw new ClawdeError('invalidParams', 'This place is of another log: read everything anew', {
          reason: 'cursor_reset',
          log: logId,
          head,
        })
      }
      const after = wanted ?? head
      stream.subscribe(after, {
        sessions: sessions ? new Set(sessions) : null,
        types: types ? new Set(types) : null,
      })
      const params = { version, port: context.port() }
      stream.push('ready', bundleOf([{ method: 'daemon.ready', sessionId: null, seq: after, params }]))
      return bothWays({ after, head, log: logId, gap: after + 1 < oldest })
    },
  }),
  method({
    name: 'events.unsubscribe',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary: 'Everything again, from now on.',
    params: wire.nothing,
    result: z.object({ ok: z.boolean() }),
    handler(_, { engine, stream }) {
      stream.subscribe(engine.events.head, EVERYTHING)
      return { ok: true }
    },
  }),
]
