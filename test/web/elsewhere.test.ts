import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const how = existsSync(CHROMIUM)
  ? 'left out here; run it with: npm run test:browser'
  : 'needs Chromium: apt-get install chromium (or CHROMIUM=/path), then npm run test:browser'

const files = readdirSync(join(import.meta.dirname, '../browser')).filter((name) => name.endsWith('.test.ts'))

for (const file of files) test(`test/browser/${file}`, { skip: how })
