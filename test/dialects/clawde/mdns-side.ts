/**
 * One side of the test of the local network, in a network of its own: `daemon` advertises, `neighbour` looks around,
 * `refused` finds the port taken.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import Bonjour from 'bonjour-service'
import { advertise } from '../../../src/dialects/clawde/mdns.ts'

const tell = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`)
const [role, port = '0'] = process.argv.slice(2)

const warn = (message: string, error: unknown): void => tell({ warning: `${message}: ${String(error)}` })

if (role === 'refused') {
  const holder = createSocket('udp4').bind(5353)
  await once(holder, 'listening')
  const { promise: refused, resolve } = Promise.withResolvers<unknown>()
  const announcement = { port: 1, version: '1.2.3', daemonId: 'abcdef0123456789', name: '' }
  const advertiser = await advertise(announcement, (message, error) => {
    warn(message, error)
    resolve(error)
  })
  await refused
  await advertiser.stop()
  holder.close()
} else if (role === 'daemon') {
  const announcement = {
    port: Number(port),
    version: '1.2.3',
    daemonId: 'abcdef0123456789',
    name: 'Schreibtisch am Fluß',
  }
  const advertiser = await advertise(announcement, warn)
  tell({ announced: await advertiser.announced })
  process.stdin.once('data', async () => {
    await advertiser.stop()
    tell({ stopped: true })
    process.stdin.destroy() // with this the process must come to an end by itself
  })
} else {
  const bonjour = new Bonjour()
  for (const type of ['clawd', 'clawde']) {
    const browser = bonjour.find({ type })
    browser.on('up', ({ fqdn, port, host, txt, addresses }) => tell({ up: fqdn, port, host, txt, addresses }))
    browser.on('down', ({ fqdn }) => tell({ down: fqdn }))
    const asking = setInterval(() => browser.update(), 300)
    process.stdin.once('end', () => clearInterval(asking))
  }
  tell({ looking: true })
  process.stdin.once('end', () => bonjour.destroy()).resume()
}
