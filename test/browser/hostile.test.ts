import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import { writeHostile } from '../support/hostile-log.ts'
import { CODES, DECEIT, DEEP, HOSTILE, MARKUP } from '../support/hostile.ts'
import { git } from '../support/scene.ts'
import { until } from '../support/wait.ts'
import { writeHome } from '../support/written.ts'
import { intruders, scrollOn, scrollUp, unfold } from './inspect.ts'
import {
  browserFor,
  daemonFor,
  drawn,
  nativeFor,
  originOf,
  quiet,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

interface Place {
  page: Page
  client: NativeClient
  origin: string
  project: string
  /** Sessions in which everything is hostile. */
  ids: string[]
}

/**
 * A dashboard of a daemon with hostile sessions. A script that runs, a request to elsewhere, a dialog, another tab and a breach of the
 * policy are errors on the console, and fail the test.
 */
async function placeFor(t: TestContext, texts: readonly string[]): Promise<Place> {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  let ids: string[] = []
  await writeHome(home, async (writer) => {
    ids = await writeHostile(writer, texts)
  })
  const daemon = await daemonFor(t, { home })
  const client = await nativeFor(t, daemon)
  // A tall screen shows much at once.
  const browser = await browserFor(t, daemon, {
    viewport: { width: 1280, height: 6000 },
    expectedErrors: /status of 404 \(Not Found\) \(.*\/nowhere\)/,
  })
  const page = await browser.page()
  await page.addInitScript(() => {
    const report = (what: string) => (): void => console.error(`a script has run: ${what}`)
    Object.assign(window, { ran: report('ran'), alert: report('alert'), open: report('open') })
  })
  await signIn(page, client)
  const others: string[] = []
  browser.context.on('page', (other) => others.push(other.url()))
  t.after(() => assert.deepEqual(others, []))
  return { page, client, origin: originOf(daemon), project: daemon.project, ids }
}

async function open({ page, origin }: Place, path: string): Promise<void> {
  await visit(page, `${origin}${path}`)
}

/** Looks at everything in a page, from its beginning to its end, with all that can be unfolded. */
async function lookThrough({ page }: Place, what: string): Promise<void> {
  await drawn(page)
  await scrollUp(page)
  let goesOn = true
  for (let screens = 0; goesOn && screens < 2000; screens++) {
    await drawn(page)
    assert.deepEqual([what, await intruders(page)], [what, []])
    // What is opened may hold more that is folded.
    for (let rounds = 0; rounds < 100 && (await unfold(page)); rounds++) {
      await quiet(page)
      assert.deepEqual([what, await intruders(page)], [what, []])
    }
    goesOn = await scrollOn(page)
  }
}

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64')

/** In parts, so that each test has its time. */
const PARTS: [name: string, texts: readonly string[]][] = [
  ['markup that runs by itself', MARKUP.slice(0, 70)],
  ['foreign markup, styles and links', MARKUP.slice(70, 140)],
  ['links and markup inside of Markdown', MARKUP.slice(140)],
  ['what deceives, codes of terminals and what is nested deeply', [...DECEIT, ...CODES, ...DEEP]],
]

for (const [name, texts] of PARTS) {
  test(`a session shows ${name}, and it stays text`, options, async (t) => {
    const place = await placeFor(t, texts)
    for (const id of place.ids) {
      await open(place, `/s/${id}`)
      await until(async () => (await place.page.locator('main .entry-user').count()) > 0, 'rows are there')
      await lookThrough(place, `/s/${id}`)
    }
  })
}

test('what is being said is inert at every moment', options, async (t) => {
  const place = await placeFor(t, ['x'])
  const { client, page, project } = place
  const { id: sessionId } = await client.call('session.create', { agent: 'demo', cwd: project, mode: 'auto' })
  await open(place, `/s/${sessionId}`)
  for (const texts of [MARKUP, [...DECEIT, ...CODES]]) {
    const content = `[[think ${texts[0]}]] [[tell64 1 ${encoded(texts.join('\n\n'))}]]`
    const { turnId } = await client.call('session.send', { sessionId, content })
    const found = new Set<string>()
    await until(async () => {
      for (const one of await intruders(page)) found.add(one)
      return (await client.call('turn.get', { turnId })).state === 'completed'
    }, 'everything is said')
    assert.deepEqual([...found], [])
  }
  await lookThrough(place, 'the session')
})

const CALLS: [name: string, script: (text: string) => string][] = [
  ['a command', (text) => `[[call Bash ${encoded({ command: text, description: text })}]]`],
  [
    'an edit',
    (text) => `[[call Edit ${encoded({ file_path: text, old_string: text, new_string: `${text}!` })}]]`,
  ],
  ['a file', (text) => `[[call Write ${encoded({ file_path: text, content: text })}]]`],
  ['a page', (text) => `[[call WebFetch ${encoded({ url: text, prompt: text })}]]`],
  [
    'a tool of that name',
    (text) => `[[call ${text.replace(/[\s[\]]/g, '').slice(0, 500) || 'x'} ${encoded({ [text]: text })}]]`,
  ],
  ['a question', (text) => `[[call Ask ${encoded(questionOf(text))}]]`],
]

function questionOf(text: string): object {
  const option = { label: text, description: text }
  return {
    questions: [
      {
        question: text,
        header: text,
        options: [option, { ...option, label: `${text}2` }],
        multiSelect: true,
      },
    ],
  }
}

test('decisions about hostile things are shown as what they are', options, async (t) => {
  const place = await placeFor(t, MARKUP.slice(0, 3))
  const { client, project } = place
  const texts = [MARKUP.join('\n'), DECEIT.join('\n'), CODES.join('\n'), ...NAMES_OF_LINKS]
  const sessions: string[] = []
  for (const text of texts)
    for (const [, script] of CALLS) {
      const create = { agent: 'demo', cwd: project, mode: 'ask', title: text.slice(0, 500) } as const
      const { id: sessionId } = await client.call('session.create', create)
      await client.call('session.send', { sessionId, content: script(text) })
      sessions.push(sessionId)
    }
  await until(async () => (await client.call('approval.list')).approvals.length === sessions.length)
  for (const path of ['/', '/inbox', ...sessions.slice(0, 2 * CALLS.length).map((id) => `/s/${id}`)]) {
    await open(place, path)
    await lookThrough(place, path)
  }
})

const NAMES_OF_LINKS = ['[a](javascript:top.ran(1))', '<img src=x onerror=top.ran(1)>']

test('a file of any name and with any content is shown as what it is', options, async (t) => {
  const place = await placeFor(t, ['x'])
  const { client, page, project } = place
  const names = HOSTILE.map((text) => text.replaceAll(/[/\0]/g, '|').slice(0, 60)).filter(
    (name) => !/^\.*$/.test(name),
  )
  git(project, 'init', '-q')
  mkdirSync(join(project, 'all'))
  for (const [at, name] of names.entries()) writeFileSync(join(project, 'all', `${at}${name}`), 'before\n')
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'before')
  for (const [at, name] of names.entries())
    writeFileSync(join(project, 'all', `${at}${name}`), `${HOSTILE[at]}\n`)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: project })
  await open(place, `/s/${id}/changes?scope=uncommitted`)
  await until(async () => (await page.getByText('onerror').count()) > 0, 'the changes are there')
  await lookThrough(place, 'changes')
})

test('every other page stays what it is, whatever is found, named and listed there', options, async (t) => {
  const place = await placeFor(t, [...MARKUP.slice(0, 40), ...DECEIT])
  const { client, page, project } = place
  await client.call('project.create', { name: MARKUP[10]!, repos: [] }).catch(() => null)
  await client
    .call('directory.configure', {
      path: project,
      rules: { allow: ['Bash(<img src=x onerror=top.ran(1)>)'] },
    })
    .catch(() => null)
  for (const path of [
    '/',
    '/inbox',
    '/search',
    '/relay',
    '/system',
    '/devices',
    '/settings',
    '/welcome',
    '/nowhere',
  ]) {
    await open(place, path)
    await lookThrough(place, path)
  }
  await open(place, '/search')
  await page.getByRole('searchbox').first().fill('onerror')
  await until(async () => (await page.getByText('onerror').count()) > 0, 'something is found')
  await quiet(page)
  await lookThrough(place, 'what was found')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('img')
  await page.getByRole('option').first().waitFor()
  await lookThrough(place, 'the palette')
})

for (const address of [
  '/s/%3Cimg%20src%3Dx%20onerror%3Dtop.ran(1)%3E',
  '/s/__proto__',
  '/search?q=%3Cscript%3Etop.ran(1)%3C/script%3E',
  '/inbox#%3Cscript%3Etop.ran(1)%3C/script%3E',
  '/signin#pin=%3Cscript%3E',
  '/?next=javascript:top.ran(1)',
]) {
  test(`the address ${address} does nothing`, options, async (t) => {
    const place = await placeFor(t, ['x'])
    await place.page.goto(`${place.origin}${address}`)
    await quiet(place.page)
    assert.deepEqual(await intruders(place.page), [])
  })
}
