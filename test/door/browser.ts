import { request } from 'node:http'
import type { TestDaemon } from '../support/daemon.ts'
import { doorOf } from './support.ts'

export interface Answer {
  status: number
  headers: Record<string, unknown>
  body: string
  /** `name=value` of the cookie that it sets. */
  cookie: string
  json<T>(): T
}

/** What a browser keeps of a sign-in. */
export interface Jar {
  cookie: string
  key: string
}

/** What a page of the dashboard sends along. */
export function ownPage(daemon: TestDaemon): Record<string, string> {
  return { origin: doorOf(daemon), 'sec-fetch-site': 'same-origin' }
}

export function headersOf({ cookie, key }: Jar): Record<string, string> {
  return { cookie, 'corral-key': key }
}

/** A request with exactly these headers. */
export function send(
  daemon: TestDaemon,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const about =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(text.length) }
  return new Promise((resolve, reject) => {
    const req = request(`${doorOf(daemon)}${path}`, { method, headers: { ...about, ...headers } }, (res) => {
      const parts: Buffer[] = []
      res.on('data', (part: Buffer) => parts.push(part))
      res.on('end', () => {
        const answer = Buffer.concat(parts).toString()
        const cookie = res.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? ''
        resolve({
          status: res.statusCode!,
          headers: res.headers,
          body: answer,
          cookie,
          json: <T>() => JSON.parse(answer) as T,
        })
      })
    })
    req.on('error', reject).end(text)
  })
}

/** Signs in as a page of the dashboard does. */
export async function signIn(daemon: TestDaemon, credential: object): Promise<Answer & { jar: Jar }> {
  const answer = await send(daemon, 'POST', '/signin', ownPage(daemon), credential)
  const key = answer.status === 200 ? answer.json<{ key: string }>().key : ''
  return { ...answer, jar: { cookie: answer.cookie, key } }
}

interface Whoami {
  signedIn: boolean
  device: { id: string; name: string } | null
  version: string | null
}

export async function whoami(daemon: TestDaemon, jar: Jar): Promise<Whoami> {
  const headers = { 'sec-fetch-site': 'same-origin', ...headersOf(jar) }
  return (await send(daemon, 'GET', '/whoami', headers)).json<Whoami>()
}
