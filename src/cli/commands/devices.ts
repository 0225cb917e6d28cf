import type { Api, NativeClient } from '../../client/client.ts'
import type { Cli, Command } from '../cli.ts'
import { ago, clean, fields, oneLine, shortId, table } from '../format.ts'
import { nameFrom } from '../options.ts'
import { pickOne } from '../resolve.ts'

type Device = Api['device.list']['result']['devices'][number]

export const list: Command = (cli) =>
  cli.withDaemon(async (client) => {
    const { devices } = await client.call('device.list')
    if (cli.json) return devices.forEach(cli.printJson)
    if (cli.options['quiet']) return devices.forEach(({ id }) => cli.print(id))
    if (devices.length === 0) return cli.note('no device may connect yet; add one with: corral pair')
    cli.print(table(devices.map((device) => row(cli, device))))
  })

function row(cli: Cli, device: Device): string[] {
  const { id, name, platform, scopes } = device
  return [
    cli.paint('bold', shortId(id)),
    clean(platform),
    scopes.join(', '),
    lastSeen(device),
    oneLine(name, 80),
  ]
}

function lastSeen({ lastSeenAt }: Device): string {
  return lastSeenAt === null ? 'never' : ago(lastSeenAt)
}

export const show: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const device = await find(client, fragment)
    if (cli.json) return cli.printJson(device)
    const text = fields(cli.paint, [
      ['id', device.id],
      ['name', oneLine(device.name, 200)],
      ['platform', clean(device.platform)],
      ['may', device.scopes.join(', ')],
      ['paired', ago(device.pairedAt)],
      ['last seen', lastSeen(device)],
    ])
    cli.print(text)
  })

export const remove: Command = (cli, [fragment]) =>
  cli.withDaemon(async (client) => {
    const { id: deviceId } = await find(client, fragment)
    await client.call('device.revoke', { deviceId })
    if (cli.json) cli.printJson({ deviceId })
    else cli.print(`removed ${shortId(deviceId)}`)
  })

export const rename: Command = (cli, [fragment, words]) =>
  cli.withDaemon(async (client) => {
    const { id: deviceId } = await find(client, fragment)
    const device = await client.call('device.rename', { deviceId, name: nameFrom(words, 'device') })
    if (cli.json) cli.printJson(device)
    else cli.print(`renamed ${shortId(deviceId)} to ${oneLine(device.name, 200)}`)
  })

async function find(client: NativeClient, fragment: unknown): Promise<Device> {
  const { devices } = await client.call('device.list')
  return pickOne('device', fragment, devices, ({ id }) => id)
}
