import { networkInterfaces } from 'node:os'
import { isLoopbackHost } from './loopback.ts'

/** What a device must know to come in. The daemon's own token is never part of it. */
export interface Invitation {
  /** Where it connects. */
  url: string
  /** Whether that is reached from other machines. */
  reachable: boolean
  /** For a QR code, as the reference of ClawDE's protocol has it. */
  link: string
  /** The same as ClawDE's mobile application reads it. */
  json: string
}

/** Corral has no relay: devices connect directly. */
export const NO_RELAY = ''

const ANYWHERE = ['0.0.0.0', '[::]']

/** Where others find a listener; its own address may stand for every address of this machine. */
export function placeOf(listening: string): { url: string; host: string; port: string; reachable: boolean } {
  const { protocol, hostname, port } = new URL(listening)
  const host = ANYWHERE.includes(hostname) ? ownAddress() : hostname
  const plain = host.replace(/^\[|\]$/g, '')
  return {
    url: `${protocol}//${host}${port && `:${port}`}`,
    host: plain,
    port: port || defaultPort(protocol),
    reachable: !isLoopbackHost(plain),
  }
}

/** `listening` is a `ws:` or `wss:` address. */
export function invitationTo(
  listening: string,
  { pin, name, daemonId }: { pin: string; name: string; daemonId: string },
): Invitation {
  const { url, host, port, reachable } = placeOf(listening)
  return {
    url,
    reachable,
    link: `clawd://connect?${new URLSearchParams({ host, port, pin })}`,
    json: JSON.stringify({ host: name, url, relay: NO_RELAY, daemonId, pin }),
  }
}

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1'
}

function defaultPort(protocol: string): string {
  return protocol === 'wss:' ? '443' : '80'
}
