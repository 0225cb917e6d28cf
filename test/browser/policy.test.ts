import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { browserFor, daemonFor, live, nativeFor, originOf, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

test('no text becomes HTML or a script, and nothing is asked of anybody else', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon, { expectedErrors: /policy|Policy|Trusted/ })
  const page = await browser.page()
  await signIn(page, client)
  const outcomes = await page.evaluate(async () => {
    const outcome = (attempt: () => unknown): string => {
      try {
        attempt()
        return 'done'
      } catch (error) {
        return (error as Error).name
      }
    }
    const script = document.createElement('script')
    const asked = await Promise.allSettled([fetch('http://127.0.0.1:9/'), fetch('https://example.invalid/')])
    return [
      outcome(() => (document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>')),
      outcome(() => document.createElement('div').insertAdjacentHTML('beforeend', '<b>')),
      outcome(() => (script.text = 'document.title = "run"')),
      outcome(() => (script.src = '/assets/x.js')),
      outcome(() => new Worker('/sw.js')),
      outcome(() => document.createElement('div').setAttribute('onclick', 'x')),
      ...asked.map(({ status }) => status),
    ]
  })
  assert.deepEqual(outcomes, [...Array<string>(6).fill('TypeError'), 'rejected', 'rejected'])
  const ran = await page.evaluate(() => {
    const link = document.createElement('a')
    link.setAttribute('href', 'javascript:document.title="run"')
    document.body.append(link)
    link.click()
    return document.title
  })
  assert.notEqual(ran, 'run')
  assert.equal(await page.title(), 'Now · Corral')
})

/** A page on another port of the same machine: the same site to a browser, which sends our cookies there. */
test('a page on another port gets the cookie, and can do nothing with it', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  let stolen = ''
  const other = createServer((req, res) => {
    stolen = req.headers.cookie ?? stolen
    res.writeHead(200, { 'content-type': 'text/html' }).end('<title>other</title>')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const browser = await browserFor(t, daemon, { expectedErrors: /./, alsoAllowed: elsewhere })
  const page = await browser.page()
  await signIn(page, client)
  const intruder = await browser.page()
  await intruder.goto(elsewhere)
  assert.match(stolen, /^corral_\d+=/, 'browsers do that')
  const outcomes = await intruder.evaluate(async (origin) => {
    const asked = await Promise.allSettled([
      fetch(`${origin}/whoami`, { credentials: 'include' }),
      fetch(`${origin}/whoami`, { credentials: 'include', headers: { 'corral-key': 'x' } }),
      fetch(`${origin}/signout`, { method: 'POST', credentials: 'include', mode: 'cors' }),
    ])
    const first = await new Promise<string>((resolve) => {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/native`)
      socket.addEventListener('open', () =>
        socket.send('{"jsonrpc":"2.0","id":1,"method":"daemon.auth","params":{"key":""}}'),
      )
      socket.addEventListener('message', ({ data }) => resolve(String(data)))
      socket.addEventListener('close', () => resolve('closed'))
    })
    const frame = document.createElement('iframe')
    frame.src = origin
    document.body.append(frame)
    await new Promise((resolve) => frame.addEventListener('load', resolve))
    let framed = 'blocked'
    try {
      framed = frame.contentDocument?.title ?? 'blocked'
    } catch {
      // of another origin
    }
    return [...asked.map(({ status }) => status), first.includes('unauthorized') || first, framed]
  }, originOf(daemon))
  assert.deepEqual(outcomes, ['rejected', 'rejected', 'rejected', true, 'blocked'])
  const replayed = await fetch(`${originOf(daemon)}/whoami`, {
    headers: { cookie: stolen, 'sec-fetch-site': 'same-origin' },
  })
  assert.equal(((await replayed.json()) as { signedIn: boolean }).signedIn, false)
  await page.reload()
  await live(page)
  await until(async () => (await page.title()) === 'Now · Corral')
})
