import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAttempts } from '../access/attempts.ts'
import type { Codes } from '../access/codes.ts'
import type { DeviceAccess } from '../access/devices.ts'
import { isLoopbackAddress } from '../access/loopback.ts'
import { isOwnPage } from '../access/own-page.ts'
import type { Pass, Passes } from '../access/passes.ts'
import type { Secret } from '../access/secret.ts'
import type { Device } from '../core/devices.ts'
import { CorralError } from '../core/error.ts'
import { type Guard, HttpError, isJsonType, readBody, sendJson } from '../transports/http.ts'
import { PRIVATE_HEADERS } from './headers.ts'

const MAX_BODY = 4096

export interface SignInParts {
  secret: Pick<Secret, 'matches'>
  devices: Pick<DeviceAccess, 'authenticate' | 'pair'>
  passes: Passes
  codes: Pick<Codes, 'redeem'>
  /** Keeps this machine's other users out: the arguments of a process, where a code is for a moment, are no secret. */
  local: Guard
  version: string
  now(): number
}

type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Lets browsers in and out. */
export interface SignIn {
  signIn: Answer
  signOut: Answer
  whoami: Answer
}

/** Who has come in; a text says why not. */
type Verdict = { device: Device | null } | string

export function createSignIn(parts: SignInParts): SignIn {
  const { passes, version } = parts
  const attempts = createAttempts({ now: parts.now })
  const passOf = (req: IncomingMessage): Pass | null => passes.find(req, keyIn(req))
  return {
    async signIn(req, res) {
      mustBeOwnPage(req)
      const address = addressOf(req, parts.local)
      mustNotHurry(attempts.waitMs(address))
      const verdict = await judge(await bodyOf(req), req, parts)
      const pass = typeof verdict === 'string' ? null : passes.issue(req, verdict.device)
      if (!pass) {
        attempts.wrong(address)
        throw refusal(401, typeof verdict === 'string' ? verdict : NOT_ANY_MORE)
      }
      answer(res, 200, { key: pass.key }, pass.cookie)
    },
    async signOut(req, res) {
      mustBeOwnPage(req)
      const cookie = passes.end(req, passOf(req))
      res.writeHead(204, { ...PRIVATE_HEADERS, 'cache-control': 'no-store', 'set-cookie': cookie }).end()
    },
    async whoami(req, res) {
      const pass = passOf(req)
      if (!pass) return answer(res, 200, { signedIn: false, device: null, version: null })
      const device = pass.device && pick(pass.device)
      answer(res, 200, { signedIn: true, device, version }, passes.renewed(req, pass))
    },
  }
}

const NOT_ANY_MORE = 'Whoever asked for this code is not let in any more.'
const WRONG_TOKEN =
  'This token is not valid. On the computer that runs Corral, corral token show prints the right one.'
const WRONG_CODE = 'This code has been used already, or is older than a minute. Run corral open again.'
const NOTHING = 'A token, a code or a PIN is needed.'

async function judge(
  body: Record<string, unknown>,
  req: IncomingMessage,
  parts: SignInParts,
): Promise<Verdict> {
  const { token, code, pin, name } = body
  if (typeof token === 'string') {
    if (parts.secret.matches(token)) return { device: null }
    const device = parts.devices.authenticate(token)
    return device ? { device } : WRONG_TOKEN
  }
  if (typeof code === 'string') {
    const refused = isLoopbackAddress(req.socket.remoteAddress) ? parts.local(req) : null
    if (refused) throw refusal(refused.status, refused.message)
    return parts.codes.redeem(code) ?? WRONG_CODE
  }
  if (typeof pin === 'string') return pair(pin, typeof name === 'string' ? name : 'Browser', parts)
  throw refusal(400, NOTHING)
}

async function pair(pin: string, name: string, { devices }: SignInParts): Promise<Verdict> {
  try {
    const { device } = await devices.pair({ pin: pin.replace(/\s/g, ''), name, platform: 'web' })
    return { device }
  } catch (error) {
    if (!(error instanceof CorralError)) throw error
    if (error.code === 'pin_invalid' || error.code === 'pin_expired') return `${error.message}.`
    throw refusal(400, error.message)
  }
}

/** Another user of this machine who is wrong too often keeps nobody but such users out. */
function addressOf(req: IncomingMessage, local: Guard): string {
  const { remoteAddress = '' } = req.socket
  return isLoopbackAddress(remoteAddress) && local(req) ? `${remoteAddress} other users` : remoteAddress
}

function mustBeOwnPage(req: IncomingMessage): void {
  if (!isOwnPage(req)) throw refusal(403, 'Only the dashboard itself may ask for this')
  if (!isJsonType(req.headers['content-type'])) throw refusal(415, 'The body must be JSON')
}

function mustNotHurry(waitMs: number): void {
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1000)
  const message = `Too many wrong tries. Wait ${seconds} seconds, then try again.`
  throw refusal(429, message, { 'retry-after': String(seconds) })
}

async function bodyOf(req: IncomingMessage): Promise<Record<string, unknown>> {
  const text = (await readBody(req, MAX_BODY)).toString()
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // said below
  }
  throw refusal(400, 'The body must be a JSON object')
}

function keyIn(req: IncomingMessage): string {
  const key = req.headers['corral-key']
  return typeof key === 'string' ? key : ''
}

function pick({ id, name, scopes }: Device): Pick<Device, 'id' | 'name' | 'scopes'> {
  return { id, name, scopes }
}

function refusal(status: number, message: string, headers = {}): HttpError {
  return new HttpError(status, message, { ...PRIVATE_HEADERS, 'cache-control': 'no-store', ...headers })
}

function answer(res: ServerResponse, status: number, body: object, cookie: string | null = null): void {
  for (const [name, value] of Object.entries(PRIVATE_HEADERS)) res.setHeader(name, value!)
  res.setHeader('cache-control', 'no-store')
  if (cookie !== null) res.setHeader('set-cookie', cookie)
  sendJson(res, status, JSON.stringify(body))
}
