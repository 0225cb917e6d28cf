import type { NativeClient } from '../../client/client.ts'
import type { SessionView } from '../../dialects/native/wire.ts'
import type { Cli, Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { shortId } from '../format.ts'
import { resolveSession } from '../find-session.ts'

const MINUTE = 60_000
const UNITS: Readonly<Record<string, number>> = {
  m: MINUTE,
  h: 60 * MINUTE,
  d: 24 * 60 * MINUTE,
  w: 7 * 24 * 60 * MINUTE,
}

type Marking = (client: NativeClient, sessionId: string) => Promise<SessionView>

async function marking(cli: Cli, fragment: unknown, say: string, mark: Marking): Promise<void> {
  await cli.withDaemon(async (client) => {
    const session = await mark(client, await resolveSession(cli, client, String(fragment)))
    if (cli.json) cli.printJson(session)
    else cli.print(`${say} ${shortId(session.id)}`)
  })
}

const isOff = (cli: Cli): boolean => cli.options['off'] === true

export const done: Command = (cli, [fragment]) =>
  marking(cli, fragment, isOff(cli) ? 'not done' : 'done', (client, sessionId) =>
    client.call(
      'session.mark',
      isOff(cli)
        ? { sessionId, settled: false }
        : { sessionId, settled: true, readSeq: Number.MAX_SAFE_INTEGER },
    ),
  )

export const pin: Command = (cli, [fragment]) =>
  marking(cli, fragment, isOff(cli) ? 'unpinned' : 'pinned', (client, sessionId) =>
    client.call('session.mark', { sessionId, pinned: !isOff(cli) }),
  )

export const snooze: Command = (cli, [fragment, time]) => {
  const forMs = isOff(cli) ? null : durationOf(time)
  return marking(cli, fragment, isOff(cli) ? 'back again' : 'snoozed', (client, sessionId) =>
    client.call('session.mark', { sessionId, snoozedUntil: forMs === null ? null : Date.now() + forMs }),
  )
}

/** `30m`, `2h`, `3d` or `1w`. */
function durationOf(given: unknown): number {
  const [, count, unit] = /^(\d{1,4})([mhdw])$/.exec(typeof given === 'string' ? given : '') ?? []
  if (count === undefined || unit === undefined || Number(count) === 0) {
    throw new CliError('say for how long, for example 30m, 2h, 3d or 1w', EXIT.usage)
  }
  return Number(count) * UNITS[unit]!
}
