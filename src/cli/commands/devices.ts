import type { Api, NativeClient } from '../../dialects/native/client.ts'
import type { Cli, Command } from '../cli.ts'
import { clean, duration, shortId, table } from '../format.ts'
import { pickId } from '../resolve.ts'

type Device = Api['device.list']['result']['devices'][number]

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { devices } = await client.call('device.list')
    if (cli.json) return devices.forEach(cli.printJson)
    if (cli.options['quiet']) return devices.forEach(({ id }) => cli.print(id))
    if (devices.length === 0) return cli.note('no devices yet; let one in with: corral pair')
    cli.print(table(devices.map((device) => row(cli, device))))
  })

function row(cli: Cli, { id, name, platform, scopes, lastSeenAt }: Device): string[] {
  const seen = lastSeenAt === null ? 'never back' : `${duration(Date.now() - lastSeenAt)} ago`
  return [cli.paint('bold', shortId(id)), platform, scopes.join(', '), seen, clean(name)]
}

export const revoke: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const deviceId = await resolveDevice(client, String(fragment))
    await client.call('device.revoke', { deviceId })
    if (cli.json) cli.printJson({ deviceId })
    else cli.print(`put out ${shortId(deviceId)}`)
  })

export const rename: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const deviceId = await resolveDevice(client, String(fragment))
    const device = await client.call('device.rename', { deviceId, name: (words as string[]).join(' ') })
    if (cli.json) cli.printJson(device)
    else cli.print(`${shortId(deviceId)} is ${clean(device.name)} now`)
  })

async function resolveDevice(client: NativeClient, fragment: string): Promise<string> {
  const { devices } = await client.call('device.list')
  return pickId(
    'device',
    fragment,
    devices.map(({ id }) => id),
  )
}
