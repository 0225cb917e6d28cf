import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { after, type TestContext } from 'node:test'
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { connect, type NativeClient } from '../../src/client/client.ts'
import {
  type Chromium,
  closeShared,
  DESK,
  noChromium,
  openChromium,
  PHONE,
  sharedChromium,
} from '../support/chromium.ts'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../support/daemon.ts'
import { PATIENCE_MS, until } from '../support/wait.ts'

export { DESK, PHONE }

/** Why tests with a browser are left out here; false: they are not. */
export const withoutBrowser: string | false = noChromium && `${noChromium}, then npm run test:browser`

export interface BrowserOptions extends Pick<
  BrowserContextOptions,
  'colorScheme' | 'viewport' | 'hasTouch' | 'isMobile' | 'reducedMotion'
> {
  /** Errors on the console that the test brings about. */
  expectedErrors?: RegExp
  /** Another origin that the test itself has made. */
  alsoAllowed?: string
  /** With a profile on the disk: a window without one is private, and installs nothing. */
  profile?: boolean
}

export interface TestBrowser {
  readonly context: BrowserContext
  /** A tab; what goes wrong in it fails the test. */
  page(): Promise<Page>
}

const endings = new WeakMap<TestContext, (() => Promise<void> | void)[]>()

/** What was begun last ends first: a browser before the daemon that it talks to. */
function atEnd(t: TestContext, end: () => Promise<void> | void): void {
  const known = endings.get(t)
  if (known) return void known.push(end)
  const ends = [end]
  endings.set(t, ends)
  t.after(async () => {
    const failures: unknown[] = []
    for (const one of ends.toReversed()) {
      try {
        await one()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  })
}

/** A daemon with the demo agent. */
export async function daemonFor(t: TestContext, options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options)
  atEnd(t, () => daemon.stop())
  return daemon
}

after(closeShared)

/** A window of its own: storage, cookies, cache and workers are nobody else's. The browser is that of all tests of the file. */
async function openWindow(options: BrowserContextOptions): Promise<Chromium> {
  const browser = await sharedChromium()
  // What moves is looked at where that is the point.
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce', ...options })
  return { context, close: () => context.close() }
}

/** What somebody sees who has never been here. */
export async function browserFor(
  t: TestContext,
  daemon: TestDaemon,
  { expectedErrors, alsoAllowed, profile = false, ...options }: BrowserOptions = {},
): Promise<TestBrowser> {
  const { context, close } = await (profile ? openChromium(options) : openWindow(options))
  // The test's own time is the limit; before it is over, what has not come is named.
  context.setDefaultTimeout(PATIENCE_MS)
  const problems = watchContext(context, () => [originOf(daemon), alsoAllowed], expectedErrors)
  context.on('page', watchAsked)
  atEnd(t, async () => {
    // The types do not know `passed` yet.
    if (!(t as TestContext & { passed: boolean }).passed) await picture(context, t.name)
    await close()
    assert.deepEqual(problems, [])
  })
  return {
    context,
    async page() {
      const page = await context.newPage()
      await page.addInitScript(() => {
        document.addEventListener(
          'securitypolicyviolation',
          ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
            console.error(`policy: ${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`),
        )
      })
      await noteToasts(page)
      return page
    },
  }
}

/** What the tabs showed when the test failed, for whoever looks for the reason: in .cache/failed. */
async function picture(context: BrowserContext, name: string): Promise<void> {
  for (const [at, page] of context.pages().entries()) {
    const path = `.cache/failed/${name.replaceAll(/[^\w]+/g, '-').slice(0, 80)}-${at + 1}.png`
    await page.screenshot({ path, timeout: 5000 }).catch(() => {})
  }
}

/** What no page of ours may do: report an error, break the policy, or ask anybody but the daemon. */
function watchContext(
  context: BrowserContext,
  allowed: () => (string | undefined)[],
  expected?: RegExp,
): string[] {
  const problems: string[] = []
  const note = (problem: string): void => {
    if (!expected?.test(problem)) problems.push(problem)
  }
  context.on('console', (message) => {
    if (message.type() === 'error') note(`console: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (error) => note(`error: ${String(error.error())}`))
  const mustBeOurs = (url: string): void => {
    if (/^(data|blob|about):/.test(url)) return
    const hosts = allowed().map((origin) => origin && new URL(origin).host)
    if (!hosts.includes(new URL(url).host)) problems.push(`request to ${url}`)
  }
  context.on('request', (request) => mustBeOurs(request.url()))
  context.on('page', (page) => page.on('websocket', (socket) => mustBeOurs(socket.url())))
  return problems
}

export function originOf(daemon: TestDaemon): string {
  return new URL(daemon.listeners['corral']!).origin
}

export async function nativeFor(t: TestContext, daemon: TestDaemon): Promise<NativeClient> {
  const client = await connect(daemon.socket)
  atEnd(t, () => client.close())
  return client
}

/** Signs in as `corral open` does, and waits until the page is live. */
export async function signIn(page: Page, client: NativeClient): Promise<void> {
  const { url } = await client.call('door.code')
  await visit(page, url)
}

/** The page says that it is live, and has all that it has asked for. */
export async function live(page: Page): Promise<void> {
  await until(async () => (await page.locator('[data-status="live"]').count()) > 0, 'the page is live')
  await quiet(page)
}

/** Loads a page of the dashboard, and waits until it has all that it shows by itself. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await live(page)
}

/** What each tab has asked for and has no answer to yet: files, and calls of the daemon. */
const asked = new WeakMap<Page, Set<unknown>>()

function watchAsked(page: Page): void {
  const open = new Set<unknown>()
  asked.set(page, open)
  const isOver = (request: unknown): void => void open.delete(request)
  let coming: unknown = null
  let documents = 0
  page.on('request', (request) => {
    open.add(request)
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) coming = request
  })
  page.on('requestfinished', isOver)
  page.on('requestfailed', isOver)
  // Nobody waits any more for what the page before has asked for: its last answers may never come.
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame() || coming === null) return
    const isComing = open.has(coming)
    open.clear()
    if (isComing) open.add(coming)
    coming = null
    documents += 1
  })
  page.on('websocket', (socket) => {
    const mine = documents
    const calls = new Map<unknown, object>()
    socket.on('framesent', ({ payload }) => {
      const { id, method } = messageIn(payload)
      if (id === undefined || method === undefined || mine !== documents) return
      const call = { method }
      calls.set(id, call)
      open.add(call)
    })
    socket.on('framereceived', ({ payload }) => open.delete(calls.get(messageIn(payload).id)))
    socket.on('close', () => calls.forEach(isOver))
  })
}

function messageIn(payload: string | Buffer): { id?: unknown; method?: string } {
  return JSON.parse(payload.toString()) as { id?: unknown; method?: string }
}

/**
 * The page has asked for something, has got it, drawn it, and wants nothing more: what it shows stays where it is until somebody
 * does something, or the daemon tells it of something new. What moves under the pointer is not hit.
 */
export async function quiet(page: Page): Promise<void> {
  const open = asked.get(page)!
  const isQuiet = async (): Promise<boolean> => open.size === 0 && (await drawn(page)) && open.size === 0
  await until(isQuiet, () => `the page has what it has asked for, and not only waits for ${inspect(open)}`)
}

/** What was changed has been drawn; false: the page has gone meanwhile. */
export function drawn(page: Page): Promise<boolean> {
  const frames = async (): Promise<boolean> => {
    // A browser that sees nothing to draw may give no frame at all: then what is there has been drawn.
    const frame = (): Promise<unknown> =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve)
        setTimeout(resolve, 1000)
      })
    await frame()
    await frame()
    // What a component does once it is seen is done behind the frame.
    await new Promise((resolve) => setTimeout(resolve))
    await frame()
    return true
  }
  return page.evaluate(frames).catch(() => false)
}

/** Everything that the corner has said since the page was loaded: it says it for a few seconds only. */
export function toasts(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as { saidInCorner?: string[] }).saidInCorner ?? [])
}

function noteToasts(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const said = ((globalThis as { saidInCorner?: string[] }).saidInCorner = [] as string[])
    const known = new WeakSet<Element>()
    new MutationObserver(() => {
      for (const one of document.querySelectorAll('.toast-text')) {
        if (!known.has(one)) said.push(one.textContent)
        known.add(one)
      }
    }).observe(document, { subtree: true, childList: true })
  })
}

/**
 * A moment that the page gives somebody, to take something back, lasts until `pass`: however long the test needs. To be called
 * before the page is loaded.
 */
export async function heldMoments(page: Page, ms: number): Promise<{ pass(): Promise<void> }> {
  await page.addInitScript((held) => {
    const waiting = new Map<unknown, () => void>()
    const { setTimeout: start, clearTimeout: stop } = globalThis
    Object.assign(globalThis, {
      heldMoments: waiting,
      setTimeout(run: () => void, after?: number, ...given: []) {
        if (after !== held) return start(run, after, ...given)
        const id = start(() => {}, 2 ** 31 - 1)
        waiting.set(id, run)
        return id
      },
      clearTimeout(id?: number) {
        waiting.delete(id)
        stop(id)
      },
    })
  }, ms)
  const pass = (): Promise<boolean> =>
    page.evaluate(() => {
      const { heldMoments: waiting } = globalThis as unknown as { heldMoments: Map<unknown, () => void> }
      const due = [...waiting.values()]
      waiting.clear()
      for (const run of due) run()
      return due.length > 0
    })
  // The page may show that it waits before it does.
  return { pass: async () => void (await until(pass, 'the page gives somebody a moment')) }
}

/** A decision says what each answer would come to: its answers stay where they are. */
export async function answerable(card: Locator): Promise<void> {
  await card.locator('[data-answer="2"]:not([aria-disabled="true"])').waitFor()
  await quiet(card.page())
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

/** What keeps people from using the page as it is: WCAG 2.2, A and AA, and good practice. */
export async function barriers(page: Page): Promise<string[]> {
  await quiet(page)
  await page.evaluate(stoodStill)
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    return axe.run({ runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] })
  })
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 300)}\n${failureSummary}`),
  )
}

/** What moves has come to its end; what turns for ever has none. */
async function stoodStill(): Promise<void> {
  const passing = document
    .getAnimations()
    .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
  await Promise.allSettled(passing.map(({ finished }) => finished))
}

/** Fails with them. */
export async function accessible(page: Page): Promise<void> {
  assert.deepEqual(await barriers(page), [], page.url())
}
