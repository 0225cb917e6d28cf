import type { Credential } from './credential.ts'

/** What the front door says about whoever asks. */
export interface Whoami {
  signedIn: boolean
  /** Null: the owner, or nobody. */
  device: { id: string; name: string; scopes: string[] } | null
  /** Of the daemon; null for those who are not signed in. */
  version: string | null
}

/*
 * A session in the browser is a cookie that no script can read, and a key that no other port of this machine gets to see:
 * browsers send cookies to every port of a host, but keep storage for one. The daemon wants both.
 */
const KEY = 'corral.key'

export function pageKey(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    return '' // storage is switched off: nobody can stay signed in
  }
}

export async function whoami(): Promise<Whoami> {
  const answer = await fetch('/whoami', { headers: { 'corral-key': pageKey() }, cache: 'no-store' })
  if (!answer.ok) throw new Error(`the daemon answered ${answer.status}`)
  return (await answer.json()) as Whoami
}

/** Null when all is well; otherwise what was wrong, for the person. */
export async function signIn(credential: Credential): Promise<string | null> {
  const answer = await post('/signin', credential)
  if (answer === null) return 'The daemon cannot be reached. Is it running? corral start --detach starts it.'
  if (!answer.ok) return (await answer.text()) || `The daemon answered ${answer.status}.`
  const { key } = (await answer.json()) as { key: string }
  try {
    localStorage.setItem(KEY, key)
  } catch {
    return 'This browser keeps nothing for this page, so you cannot stay signed in. Allow storage for it, and try again.'
  }
  return null
}

export async function signOut(): Promise<void> {
  await post('/signout', {})
  try {
    localStorage.removeItem(KEY)
  } catch {
    // there was nothing to remove
  }
}

async function post(path: string, body: object): Promise<Response | null> {
  const headers = { 'content-type': 'application/json', 'corral-key': pageKey() }
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null)
}
