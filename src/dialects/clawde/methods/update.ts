import { z } from 'zod'
import { updateMessage } from '../doctor.ts'
import { ClawdeError } from '../errors.ts'
import { method } from '../method.ts'
import type { UpdateCheck, Updates } from '../../ports.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

async function look(updates: Updates): Promise<UpdateCheck> {
  const found = await updates.check()
  if (found.state !== 'failed') return found
  throw new ClawdeError('internal', found.message, { reason: 'update_failed' })
}

export const updateMethods = [
  method({
    name: 'daemon.checkUpdate',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Whether the configured release feed has a newer Corral.',
    params: wire.nothing,
    result: wire.update,
    async handler(_, { updates }) {
      const found = await look(updates)
      const { current, state } = found
      const available = state === 'available'
      const latest = 'latest' in found ? found.latest : null
      return bothWays({
        current,
        latest,
        available,
        updateAvailable: available,
        configured: state !== 'unconfigured',
        message: updateMessage(found),
      })
    },
  }),
  method({
    name: 'daemon.applyUpdate',
    scope: 'manage',
    repeat: 'never',
    errors: [],
    summary:
      'Fetches the newest Corral and checks its signature. Installing it is left to whoever installed this one: `command` says how.',
    params: wire.nothing,
    result: z.object({
      applied: z.boolean(),
      staged: z.boolean(),
      message: z.string(),
      version: z.string().exactOptional(),
      path: z.string().exactOptional().describe('where it was put'),
      command: z.string().exactOptional(),
    }),
    async handler(_, { updates, tell }) {
      const found = await look(updates)
      if (found.state !== 'available') return { applied: false, staged: false, message: updateMessage(found) }
      const version = found.latest
      tell('daemon.updating', { version })
      try {
        const { path, command } = await updates.stage()
        return {
          applied: false,
          staged: true,
          version,
          path,
          command,
          message: `install it with: ${command}`,
        }
      } catch (error) {
        const { message } = error as Error
        tell('daemon.updateFailed', { version, error: message })
        throw new ClawdeError('internal', message, { reason: 'update_failed' })
      }
    },
  }),
]
