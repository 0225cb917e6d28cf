import { hostname } from 'node:os'
import type { Service, ServiceConfig } from 'bonjour-service'

/** The documented type, and the one that phones really look for. */
const TYPES = ['clawd', 'clawde'] as const
/** Saying goodbye must not hold up a daemon that wants to stop. */
const GOODBYE_MS = 1000
/** Probing takes a second; a name that is not ours by then is somebody else's. */
const UP_MS = 5000

export interface Announcement {
  port: number
  version: string
  daemonId: string
  /** What people call this daemon. */
  name: string
}

export interface Advertiser {
  /** True once the announcement was handed to the network, whoever is there to hear it; false when the name is taken. */
  announced: Promise<boolean>
  /** Tells the neighbours goodbye, and resolves when nothing is left open. */
  stop(): Promise<void>
}

/** Neighbours can use it only if they can reach it; who asks for it, or forbids it, has the last word. */
export function wantsAdvertising(setting: boolean | null, exposed: boolean): boolean {
  return setting ?? exposed
}

/** What is published, one service for each type. */
export function servicesOf({ port, version, daemonId, name }: Announcement, host: string): ServiceConfig[] {
  return TYPES.map((type) => ({
    name: `clawd-${daemonId.slice(0, 8)}`,
    type,
    protocol: 'tcp',
    port,
    host: `${host.split('.')[0] || 'corral'}.local`,
    txt: { version, daemon_id: daemonId, port: String(port), name: shortened(name) },
  }))
}

/** An entry of a TXT record has 255 bytes at the most, with its key. */
const TXT_BYTES = 200
function shortened(text: string): string {
  return Buffer.byteLength(text) <= TXT_BYTES
    ? text
    : new TextDecoder().decode(Buffer.from(text).subarray(0, TXT_BYTES)).replace(/\uFFFD+$/, '')
}

/**
 * Advertises this daemon in the local network. Whatever goes wrong, now or later, is a warning: nobody needs it to work.
 */
export async function advertise(
  announcement: Announcement,
  warn: (message: string, error: unknown) => void,
): Promise<Advertiser> {
  const complain = (error: unknown): void => warn('advertising in the local network', error)
  try {
    const { default: Bonjour } = await import('bonjour-service')
    const bonjour = new Bonjour({}, complain)
    listenForErrors(bonjour, complain)
    const services = servicesOf(announcement, hostname()).map((config) => bonjour.publish(config))
    const announced = Promise.all(services.map(isUp)).then((all) => all.every(Boolean))
    let stopped = false
    void announced.then(
      (up) => up || stopped || complain(new Error('the name is taken, or nothing could be sent')),
    )
    return {
      announced,
      async stop() {
        stopped = true
        await within(GOODBYE_MS, (done) => bonjour.unpublishAll(done))
        await within(GOODBYE_MS, (done) => bonjour.destroy(done))
      },
    }
  } catch (error) {
    complain(error)
    return { announced: Promise.resolve(false), stop: async () => undefined }
  }
}

/** The library leaves the errors of its socket to nobody, and an error that nobody listens for ends the process. */
function listenForErrors(bonjour: object, complain: (error: unknown) => void): void {
  const { server } = bonjour as { server: { mdns: NodeJS.EventEmitter } }
  server.mdns.on('error', complain)
}

function isUp(service: Service): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), UP_MS).unref()
    service.once('up', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}

function within(ms: number, work: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    work(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
