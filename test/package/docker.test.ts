import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config/schema.ts'
import { ROOT } from './support.ts'

/* There is no Docker in the tests. What can be known without one is whether the recipe speaks of things that exist. */

const recipe = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const kept = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

test('every variable of the image is a setting', () => {
  const known = ['CORRAL_HOME', ...SETTINGS.map(({ env }) => env)]
  const named = [...recipe.matchAll(/\b(CORRAL_[A-Z_]+)=/g)].map(([, name]) => name!)
  assert.ok(named.length > 1)
  for (const name of named) assert.ok(known.includes(name), name)
})

test('the build has all that the package is made of', () => {
  for (const path of kept) assert.ok(existsSync(join(ROOT, path.replace(/\/\*\.\w+$/, ''))), path)
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  for (const file of files.filter((name) => name !== 'dist')) assert.ok(kept.includes(file), file)
})

test('it does not run as root', () => {
  const users = [...recipe.matchAll(/^USER (\S+)/gm)].map(([, user]) => user)
  assert.equal(users.at(-1), 'node')
  assert.ok(recipe.lastIndexOf('\nUSER') < recipe.indexOf('\nENTRYPOINT'))
})
