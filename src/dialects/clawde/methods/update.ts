import { z } from 'zod'
import { ClawdeError } from '../errors.ts'
import { method } from '../method.ts'
import type { UpdateCheck, Updates } from '../ports.ts'
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
    summary: 'Whether the configured release feed has a newer Corral.',
    params: wire.nothing,
    result: wire.update,
    async handler(_, { updates }) {
      const found = await look(updates)
      const { current, state } = found
      const available = state === 'available'
      const latest = 'latest' in found ? found.latest : null
      const message =
        'message' in found ? found.message : available ? `${latest} is there` : `${current} is the latest`
      return bothWays({
        current,
        latest,
        available,
        updateAvailable: available,
        configured: state !== 'unconfigured',
        message,
      })
    },
  }),
  method({
    name: 'daemon.applyUpdate',
    summary:
      'Fetches the newest Corral and checks its signature. Installing it is left to whoever installed this one: `command` says how.',
    ownerOnly: true,
    params: wire.nothing,
    result: z.object({
      applied: z.boolean(),
      staged: z.boolean(),
      message: z.string(),
      version: z.string().exactOptional(),
      command: z.string().exactOptional(),
    }),
    async handler(_, { updates, tell }) {
      const found = await look(updates)
      const refused =
        'message' in found
          ? found.message
          : found.state === 'current'
            ? `${found.current} is the latest`
            : null
      if (refused !== null) return { applied: false, staged: false, message: refused }
      const version = 'latest' in found ? found.latest : found.current
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
