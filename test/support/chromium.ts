import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core'

/** Debian's, unless told. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Why there is no browser here; false: there is one. */
export const noChromium: string | false =
  !existsSync(CHROMIUM) &&
  `no Chromium at ${CHROMIUM}: apt-get install chromium, or name one with CHROMIUM=/path`

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const PHONE = { width: 390, height: 844 }
export const DESK = { width: 1440, height: 900 }

export interface Chromium {
  readonly context: BrowserContext
  /** Ends it, and removes all that it has kept. */
  close(): Promise<void>
}

let shared: Promise<Browser> | null = null

/** What a wheel moves is there at once: no test waits for the frames in between. */
const TEST_FLAGS = [...FLAGS, '--disable-smooth-scrolling', '--mute-audio']

/** The one browser of this process, begun when it is first wanted: to begin one costs more than most of what is done in it. */
export function sharedChromium(): Promise<Browser> {
  return (shared ??= chromium.launch({ executablePath: CHROMIUM, args: TEST_FLAGS }))
}

export async function closeShared(): Promise<void> {
  await (await shared)?.close()
}

/** A browser of its own, with a profile on the disk, as people have it. */
export async function openChromium(options: BrowserContextOptions = {}): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), 'corral-chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: FLAGS,
    viewport: DESK,
    ...options,
  })
  return {
    context,
    async close() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
