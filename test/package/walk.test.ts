import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { stripVTControlCharacters } from 'node:util'
import type { Page } from 'playwright-core'
import { allBlocks, commandsIn } from '../docs/extract.ts'
import { noChromium, openChromium, PHONE } from '../support/chromium.ts'
import { arrival, until } from '../support/wait.ts'
import { newUser, pack, ROOT, run, succeed, type NewUser } from './support.ts'

/** The page that says how to get from nothing to an approval on a phone. What it says is done here, in its order. */
const PAGE = readFileSync(join(ROOT, 'docs/start.md'), 'utf8')

/** What stands in the blocks of a step: `sh` has what is typed, `text` what is shown. */
function blocksOf(step: string, kind: 'sh' | 'text'): string {
  const [, rest = ''] = PAGE.split(`\n## ${step}`)
  const [section = ''] = rest.split('\n## ')
  const blocks = [...section.matchAll(/^( *)```(\w+)\n([^]*?)^\1```/gm)].filter(([, , name]) => name === kind)
  assert.ok(blocks.length > 0, `${step} has a block of ${kind}`)
  return blocks
    .map(([, , , text = '']) => text)
    .join('')
    .trim()
}

/** The steps whose commands were typed. */
const followed: string[] = []

function commandsOf(step: string): string {
  const commands = blocksOf(step, 'sh')
  followed.push(commands)
  return commands
}

let user: NewUser
let options: { env: NodeJS.ProcessEnv; cwd: string }

before(async () => {
  user = newUser()
  const prefix = join(user.home, 'prefix')
  mkdirSync(prefix)
  // Whoever installs for the whole machine has the right to; here a prefix has to do. Nothing comes from a network.
  const env = {
    ...user.env,
    NPM_CONFIG_PREFIX: prefix,
    NPM_CONFIG_OFFLINE: 'true',
    PATH: `${prefix}/bin:${user.env['PATH']}`,
  }
  options = { env, cwd: join(user.home, 'downloads') }
  mkdirSync(options.cwd)
  const packed = await pack(user, user.home)
  copyFileSync(packed.path, join(options.cwd, basename(packed.path)))
})
after(async () => {
  await run('corral', ['stop', '--now'], options).catch(() => {})
  user.remove()
})

/** What is typed into a terminal, one line after the other. */
function typed(script: string): Promise<string> {
  return succeed('/bin/bash', ['-euc', script], options)
}

interface Terminal {
  /** Without colours and the like. */
  text(): string
  ended: Promise<number | null>
  kill(): void
}

/** A terminal in which something goes on. */
function terminal(script: string): Terminal {
  const env = { ...options.env, TERM: 'xterm', SHELL: '/bin/bash' }
  const child = spawn('script', ['-qefc', script, '/dev/null'], {
    ...options,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += data.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { text: () => stripVTControlCharacters(said), ended, kill: () => child.kill('SIGKILL') }
}

/** Of the certificate that is served there. */
function fingerprintAt({ hostname, port }: URL): Promise<string> {
  const asked = new Promise<string>((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false })
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.once('error', reject)
  })
  return arrival(asked, 'the certificate')
}

/** As on a phone: by touch, and without looking at the certificate twice. */
async function onPhone(t: { after(end: () => Promise<void>): void }): Promise<Page> {
  const look = { viewport: PHONE, hasTouch: true, isMobile: true, ignoreHTTPSErrors: true }
  const { context, close } = await openChromium(look)
  t.after(close)
  context.setDefaultTimeout(0)
  return context.newPage()
}

test('docs/start.md leads from nothing to an answered approval', { skip: noChromium }, async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  assert.equal((await typed(commandsOf('1.'))).trim().split('\n').at(-1), version)
  assert.match(await typed(commandsOf('2.')), /runs in the background/)

  const [pair = '', logs = '', ...more] = commandsOf('3.').split('\n')
  assert.deepEqual(more, [])
  const invitation = await typed(pair)
  const [, pin] = /^PIN +([\d ]+)$/m.exec(invitation) ?? assert.fail(invitation)
  const [, shown] = /^browser +(\S+)$/m.exec(invitation) ?? assert.fail(invitation)
  assert.equal(new URL(shown!).protocol, 'https:')
  // The tests stay on this machine: the same listener, by another of its addresses.
  const address = new URL(`https://127.0.0.1:${new URL(shown!).port}`)
  assert.ok((await typed(logs)).includes(await fingerprintAt(address)), 'the log has the fingerprint')

  const page = await onPhone(t)
  await page.goto(address.href)
  await page.getByLabel('Token or PIN').fill(pin!)
  await page.getByRole('button', { name: 'Sign in' }).tap()
  await page.locator('[data-status="live"]').first().waitFor({ state: 'attached' })

  const asking = terminal(commandsOf('4.'))
  t.after(() => asking.kill())
  const shows = (step: string): Promise<unknown> =>
    until(
      () =>
        blocksOf(step, 'text')
          .split('\n')
          .every((line) => asking.text().includes(line)),
      () => `the terminal shows what ${step} says:\n${asking.text()}`,
    )
  await shows('4.')
  await page.getByRole('link', { name: 'Inbox' }).tap()
  const decision = page.getByRole('article').filter({ hasText: 'npm test' })
  await decision.getByRole('button', { name: 'Allow once' }).tap()
  await shows('5.')
  assert.equal(await arrival(asking.ended, () => `the turn ends:\n${asking.text()}`), 0)
  await page.getByText('No decision waits for you').waitFor()

  const devices = await typed('corral device ls')
  assert.match(devices, /Chrome on Linux/)
  assert.match(await typed(commandsOf('What next')), /stopped/)

  const commands = allBlocks()
    .filter(({ page: path }) => path === 'docs/start.md')
    .flatMap(commandsIn)
  assert.deepEqual(
    followed.flatMap((step) => step.split('\n').map((line) => line.trim())),
    commands.map(({ text }) => text.trim()),
    'every command of the page was typed',
  )
})
