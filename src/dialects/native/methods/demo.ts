import { z } from 'zod'
import { TOUR_MESSAGE } from '../../../core/tour.ts'
import { method } from '../method.ts'
import { viewSession } from '../views.ts'
import * as wire from '../wire.ts'

export const demoMethods = [
  method({
    name: 'demo.session',
    scope: 'use',
    repeat: 'never',
    errors: [],
    summary:
      'A first look at Corral: a session of the demo agent in a fresh directory of the data directory. It says what it does, writes two files for real, and asks before it runs their test.',
    params: z.strictObject({ origin: wire.origin.exactOptional() }),
    result: wire.sessionView,
    async handler({ origin = 'native' }, { engine, daemon }) {
      const cwd = await daemon.makeTourDirectory()
      const title = 'A first look'
      const { id } = await engine.sessions.create({ agent: 'demo', cwd, mode: 'code', title, origin })
      await engine.turns.send({ sessionId: id, input: [{ type: 'text', text: TOUR_MESSAGE }], origin })
      return viewSession(engine.sessions.get(id))
    },
  }),
]
