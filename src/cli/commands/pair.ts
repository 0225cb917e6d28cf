import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Api, EventStream, NativeClient } from '../../client/client.ts'
import { text, type Cli, type Command } from '../cli.ts'
import { CliError, EXIT } from '../exit.ts'
import { clean, duration, oneLine } from '../format.ts'

type Pin = Api['device.pin']['result']
interface Guest {
  deviceId: string
  name: string
  platform: string
}

export const pair: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const file = text(cli.options['svg'])
    const waits = cli.options['wait'] === true
    const scopes: ('use' | 'manage')[] = cli.options['manage'] === true ? ['use', 'manage'] : ['use']
    await mustListen(client)
    const arrivals = waits ? client.events({ types: ['device.paired'] }) : null
    await arrivals?.ready
    const pin = await client.call('device.pin', { scopes, svg: file !== undefined })
    if (file !== undefined && pin.svg === undefined)
      throw new CliError('there is no QR code, since the ClawDE listener is off; set clawde.enabled to true')
    if (file !== undefined) await writeFile(file, pin.svg!, { mode: 0o600 })
    if (cli.json) cli.printJson({ ...pin, ...(file !== undefined && { svg: resolve(file) }) })
    else await show(cli, pin, file)
    return arrivals ? welcome(cli, arrivals, pin.expiresAt) : EXIT.ok
  })

/** Without a listener a PIN would be of no use. */
async function mustListen(client: NativeClient): Promise<void> {
  const { listeners } = await client.call('daemon.status')
  if (listeners.some(({ name }) => name === 'corral' || name === 'clawde')) return
  throw new CliError(
    'no device can connect: the settings http.enabled and clawde.enabled are false, or their ports are taken; corral doctor says which',
  )
}

async function show(
  cli: Cli,
  { pin, expiresAt, url, native, reachable, qr }: Pin,
  file?: string,
): Promise<void> {
  if (file === undefined && qr !== null) cli.print(await drawn(cli, qr))
  cli.print(`PIN      ${cli.paint('bold', `${pin.slice(0, 3)} ${pin.slice(3)}`)}`)
  if (url !== null) cli.print(`connect  ${url}`)
  if (native !== null) {
    cli.print(`browser  ${native.replace(/^ws(.*)\/native$/, 'http$1')}`)
    cli.print(`native   ${native}`)
  }
  const wholeSeconds = Math.ceil((expiresAt - Date.now()) / 1000) * 1000
  cli.print(`valid    ${duration(wholeSeconds)}, for one device`)
  if (file !== undefined) cli.print(`QR code  ${file}`)
  if (reachable) return
  cli.note(
    'Only this machine can reach that address. To let a phone connect, set clawde.host (CORRAL_CLAWDE_HOST) to 0.0.0.0 ' +
      'or to an address of this machine, and run: corral restart. For browsers and native clients, set http.bind.',
  )
}

/** Light on dark whatever the terminal's colours are: not every camera reads the other way round. */
async function drawn(cli: Cli, message: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  return renderUnicodeCompact(message, { border: 2 })
    .split('\n')
    .map((line) => cli.paint(['whiteBright', 'bgBlack'], line))
    .join('\n')
}

async function welcome(cli: Cli, arrivals: EventStream, expiresAt: number): Promise<number> {
  const timer = setTimeout(() => arrivals.close(), Math.max(0, expiresAt - Date.now()))
  try {
    const guest = await first(arrivals)
    if (!guest) throw new CliError('no device connected before the PIN expired; run corral pair again')
    if (cli.json) cli.printJson(guest)
    else cli.print(`${oneLine(guest.name, 200)} (${clean(guest.platform)}) may connect now`)
    return EXIT.ok
  } finally {
    clearTimeout(timer)
    arrivals.close()
  }
}

async function first(arrivals: EventStream): Promise<Guest | null> {
  for await (const event of arrivals) {
    if (event.type !== 'device.paired') continue
    const { deviceId, name, platform } = event
    return { deviceId, name, platform }
  }
  return null
}
