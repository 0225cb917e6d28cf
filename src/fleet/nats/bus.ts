import { readFile } from 'node:fs/promises'
import { jetstream, jetstreamManager, JetStreamApiError, type StreamConfig } from '@nats-io/jetstream'
import { Kvm, type KV } from '@nats-io/kv'
import {
  connect,
  credsAuthenticator,
  nkeyAuthenticator,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node'
import { ConnectionLost } from '../../client/link.ts'
import { SEAL_BYTES, sealWith, unsealed, type Origin, type Seal } from './seal.ts'
import { BUCKET, STREAM, subjects } from './subjects.ts'

export interface BusOptions {
  /** One or more addresses of a cluster, with commas between them. */
  url: string
  /** A file with credentials, or with the seed of an nkey. */
  credentials: string | null
  /** A file with the key of the fleet; null: payloads are not sealed. */
  key: string | null
  me: string
  warn(message: string, error?: unknown): void
}

export interface Incoming {
  subject: string
  data: Uint8Array
  reply: string | undefined
  /** Nobody listens where this is the answer from. */
  isNobody: boolean
  origin: Origin
}

/** One connection to NATS. When it ends, all that was built on it ends; whoever wants to go on makes another one. */
export interface Bus {
  /** The bytes of our own that fit a message. */
  readonly limit: number
  /** Resolves when it is over, with the reason. */
  readonly closed: Promise<string>
  publish(subject: string, data: Uint8Array, reply?: string): void
  subscribe(subject: string, take: (message: Incoming) => void): () => void
  /** Into the stream; resolves when that has it. The same id again changes nothing. */
  store(subject: string, data: Uint8Array, id: string): Promise<void>
  /** The first message of the stream at or after a place, of some subject; null: there is none. */
  stored(place: number, subject: string): Promise<Stored | null>
  lastStored(subject: string): Promise<Stored | null>
  storedRange(): Promise<{ first: number; last: number }>
  /** Makes the stream and the bucket again, should somebody have deleted them. */
  ensure(): Promise<void>
  readonly presence: Entries
  /** Who has an entry in the bucket. */
  names(): Promise<string[]>
  /** Ends it from here. */
  fail(reason: string): void
  close(): Promise<void>
}

/** The bucket: one entry for each name, written only if it is at the revision that the writer knows; 0: there is none. */
export interface Entries {
  /** Resolves with the new revision; null: it is at another one. */
  write(name: string, data: string, revision: number): Promise<number | null>
  /** `data` null: it was sealed with another key. */
  read(name: string): Promise<{ revision: number; data: Uint8Array | null } | null>
  remove(name: string, revision: number): Promise<void>
}

export interface Stored {
  place: number
  data: Uint8Array
}

const CONNECT_MS = 10_000
const PING_MS = 10_000
/** Beside what a piece says of itself. */
const ROOM = 4096 + SEAL_BYTES
const MAX_PIECE = 512 * 1024
const NANOS = 1_000_000
const DAY = 24 * 60 * 60 * 1000

/** As long as followers may be away and still find all of it here; what is older they ask the machine itself for. */
const STREAM_CONFIG: Partial<StreamConfig> & { name: string } = {
  name: STREAM,
  description: 'What Corral machines tell of their sessions',
  subjects: [subjects.all],
  max_age: 7 * DAY * NANOS,
  max_bytes: 8 * 1024 ** 3,
  duplicate_window: 120_000 * NANOS,
  allow_direct: true,
  deny_delete: true,
}
/** Three times the longest time between two heartbeats: who is silent for so long is not in the bucket any more. */
const PRESENCE_TTL_MS = 3 * 60 * 1000

export async function openBus(options: BusOptions): Promise<Bus> {
  const { key } = options
  const seal = key === null ? unsealed : sealWith(await readFile(key, 'utf8'))
  const nc = await connect({
    ...(await accessOf(options)),
    name: `corral ${options.me}`,
    inboxPrefix: subjects.inbox(options.me),
    reconnect: false,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 2,
  })
  try {
    const js = jetstream(nc)
    const jsm = await jetstreamManager(nc, { checkAPI: false })
    const ensure = async (): Promise<void> => {
      await make(
        () => jsm.streams.info(STREAM),
        () => jsm.streams.add(STREAM_CONFIG),
      )
      await make(
        () => jsm.streams.info(`KV_${BUCKET}`),
        () => new Kvm(js).create(BUCKET, { history: 1, ttl: PRESENCE_TTL_MS }),
      )
    }
    await ensure()
    const presence = await new Kvm(js).open(BUCKET, { allow_direct: true, bindOnly: true })
    return busOf(nc, { js, jsm, ensure, presence, seal, warn: options.warn })
  } catch (error) {
    await nc.close()
    throw error
  }
}

interface Parts {
  js: ReturnType<typeof jetstream>
  jsm: Awaited<ReturnType<typeof jetstreamManager>>
  ensure(): Promise<void>
  presence: KV
  seal: Seal
  warn: BusOptions['warn']
}

function busOf(nc: NatsConnection, { js, jsm, ensure, presence, seal, warn }: Parts): Bus {
  let reason = 'the connection to NATS was lost'
  void complaints(nc, (error) => warn('nats', error))
  const closed = nc.closed().then((error) => (error ? `${reason}: ${error.message}` : reason))
  const fail = (why: string): void => {
    reason = why
    void nc.close()
  }
  return {
    limit: Math.min(MAX_PIECE, (nc.info?.max_payload ?? 1024 ** 2) - ROOM),
    closed,
    publish(subject, data, reply) {
      if (nc.isClosed()) throw new ConnectionLost()
      nc.publish(subject, seal.seal(data, subject), reply === undefined ? {} : { reply })
    },
    subscribe(subject, take) {
      const subscription = nc.subscribe(subject, {
        callback(error, message) {
          if (error) return fail(`NATS does not let this machine read ${subject}: ${error.message}`)
          const { subject: at, reply } = message
          const isEmpty = message.data.length === 0
          const isNobody = isEmpty && message.headers?.code === 503
          const opened = isEmpty ? { data: message.data, origin: null } : seal.open(message.data, at)
          if (opened) take({ subject: at, reply, isNobody, ...opened })
        },
      })
      return () => {
        if (!nc.isClosed()) subscription.unsubscribe()
      }
    },
    async store(subject, data, id) {
      await js.publish(subject, seal.seal(data, subject), { msgID: id })
    },
    stored: async (place, subject) =>
      placed(await jsm.direct.getMessage(STREAM, { seq: place, next_by_subj: subject }), seal),
    lastStored: async (subject) =>
      placed(await jsm.direct.getMessage(STREAM, { last_by_subj: subject }), seal),
    async storedRange() {
      const { state } = await jsm.streams.info(STREAM)
      return { first: state.first_seq, last: state.last_seq }
    },
    ensure,
    presence: entriesOf(presence, seal),
    async names() {
      const { state } = await jsm.streams.info(`KV_${BUCKET}`, { subjects_filter: subjects.allPresence })
      return Object.keys(state.subjects ?? {}).map((subject) => subject.split('.').at(-1)!)
    },
    fail,
    close: () => nc.close(),
  }
}

/** What cannot be opened is as if it were not one of ours. */
function placed(
  message: { seq: number; subject: string; data: Uint8Array } | null,
  seal: Seal,
): Stored | null {
  if (!message) return null
  const opened = seal.open(message.data, message.subject)
  return { place: message.seq, data: opened?.data ?? new Uint8Array() }
}

const WRONG_LAST_SEQUENCE = 10071

function entriesOf(presence: KV, seal: Seal): Entries {
  return {
    async write(name, text, revision) {
      const data = seal.seal(Buffer.from(text), subjects.presence(name))
      try {
        return await (revision === 0 ? presence.create(name, data) : presence.update(name, data, revision))
      } catch (error) {
        if ((error as { code?: unknown }).code === WRONG_LAST_SEQUENCE) return null
        throw error
      }
    },
    async read(name) {
      const entry = await presence.get(name)
      if (entry?.operation !== 'PUT') return null
      const data = seal.open(entry.value, subjects.presence(name))?.data ?? null
      return { revision: entry.revision, data }
    },
    remove: (name, revision) => presence.delete(name, { previousSeq: revision }),
  }
}

async function make(look: () => Promise<unknown>, create: () => Promise<unknown>): Promise<void> {
  try {
    await look()
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error
    await create()
  }
}

/** What the server refuses is told aside; whoever waits for it would only see that nothing comes. */
async function complaints(nc: NatsConnection, tell: (error: Error) => void): Promise<void> {
  for await (const status of nc.status()) if (status.type === 'error') tell(status.error)
}

async function accessOf({ url, credentials }: BusOptions): Promise<Partial<ConnectionOptions>> {
  const addresses = url
    .split(',')
    .map((one) => new URL(one.trim().includes('://') ? one.trim() : `nats://${one.trim()}`))
  const { username, password, protocol } = addresses[0]!
  const servers = addresses.map(({ host }) => host)
  return {
    servers,
    ...(protocol === 'tls:' && { tls: {} }),
    ...(username !== '' &&
      password !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(username !== '' && password === '' && { token: decodeURIComponent(username) }),
    ...(credentials !== null && { authenticator: authenticatorOf(await readFile(credentials)) }),
  }
}

function authenticatorOf(file: Buffer): NonNullable<ConnectionOptions['authenticator']> {
  const text = file.toString()
  return text.includes('BEGIN NATS USER JWT')
    ? credsAuthenticator(file)
    : nkeyAuthenticator(Buffer.from(text.trim()))
}
