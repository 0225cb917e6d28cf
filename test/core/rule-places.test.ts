import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { About } from '../../src/core/about.ts'
import { NO_RULES, ruleDecision, rulesFor, type Rules } from '../../src/core/rule.ts'
import { aQuestion } from '../support/session.ts'
import { says, WHERE } from './ruling.ts'

/*
 * Rules about files and addresses.
 */

test('a place may be written with steps that lead nowhere, as seen from the directory, or as Claude Code writes it', () => {
  for (const rule of ['//srv/app/.env', '/srv//app/./.env', './/.env', '../app/.env', '../*/.env'])
    assert.equal(says({ deny: [`edit(${rule})`] }, 'Edit', { file_path: '.env' }), 'deny', rule)
  assert.equal(says({ allow: ['edit(../web/*)'] }, 'Edit', { file_path: '/srv/web/a' }), 'allow')
  assert.equal(says({ allow: ['edit(../web/*)'] }, 'Edit', { file_path: '/srv/app/a' }), 'nothing')
  assert.equal(says({ deny: ['fetch(https://a.b//c)'] }, 'WebFetch', { url: 'https://a.b//c' }), 'deny')
})

test('a home is nobody knows where: what may be there is refused, and passes by no rule for another place', () => {
  const edit = (rules: Partial<Rules>, file_path: string): string => says(rules, 'Edit', { file_path })
  assert.equal(edit({ deny: ['edit(~/.ssh/*)'] }, '/home/me/.ssh/config'), 'deny')
  assert.equal(edit({ deny: ['edit(~/.ssh/*)'] }, '~/.ssh/config'), 'deny')
  assert.equal(edit({ deny: ['edit(~/.ssh/*)'] }, '/home/me/.bashrc'), 'nothing')
  assert.equal(edit({ deny: ['edit(/home/me/.bashrc)'] }, '~/.bashrc'), 'deny')
  assert.equal(edit({ deny: ['edit(/home/me/.bashrc)'] }, '~me/.bashrc'), 'deny')
  assert.equal(edit({ allow: ['edit(/srv/app/*)'] }, '~/.bashrc'), 'nothing')
  assert.equal(edit({ allow: ['edit(~/notes/*)'] }, '~/notes/a'), 'allow')
  assert.equal(edit({ allow: ['edit(~/notes/*)'] }, '/srv/app/notes/a'), 'nothing')
  assert.equal(edit({ allow: ['edit(/srv/app/*)'] }, '~lock.odt'), 'allow')
  const always = rulesFor(aQuestion('a', { tool: 'Edit', input: { file_path: '~/x' }, edits: true }), WHERE)
  assert.deepEqual(always, ['Edit(~/x)'])
})

test('an address is the same however it is spelled, and a star for a host is none for a path', () => {
  const reaching = (rules: Partial<Rules>, url: string): string => says(rules, 'WebFetch', { url })
  const deny = ['fetch(https://example.com/*)']
  for (const url of [
    'https://Example.COM/x',
    'HTTPS://example.com:443/x',
    'https://me:secret@example.com/x',
    'https://example.com./x',
    'https:///example.com/x',
    'https://example.com\\x',
    ' https://example.com/x'.trim(),
  ])
    assert.equal(reaching({ deny }, url), 'deny', url)
  assert.equal(reaching({ deny: ['fetch(*/secret/*)'] }, 'https://a.b/public/../secret/x'), 'deny')
  assert.equal(reaching({ deny }, 'https://example.org/x'), 'nothing')
  const allow = ['fetch(https://*.example.com/*)', 'fetch(https://example.com/public/*)', 'fetch(*://docs.*)']
  for (const url of ['https://a.example.com/x', 'https://example.com/public/a', 'http://docs.a.b/x'])
    assert.equal(reaching({ allow }, url), 'allow', url)
  for (const url of [
    'https://evil.org/.example.com/',
    'https://evil.org?.example.com/',
    'https://x.example.com@evil.org/.example.com/',
    'https://example.com/public/../secret',
    'https://evil.org/://docs.',
    'https://evil.org\\.example.com/',
  ])
    assert.equal(reaching({ allow }, url), 'nothing', url)
  const always = rulesFor(aQuestion('a', { tool: 'WebFetch', input: { url: 'https://A.b/x' } }), WHERE)
  assert.equal(reaching({ allow: always }, 'https://A.b/x'), 'allow')
})

test('a host that is asked about as a whole stands for every address there', () => {
  const about: About = { class: 'fetch', subjects: ['https://example.com'] }
  const reaching = (rules: Partial<Rules>) => says(rules, 'network', {}, about)
  for (const rule of [
    'fetch',
    'fetch(https://example.com)',
    'fetch(https://example.com/*)',
    'fetch(*.com*)',
  ]) {
    assert.equal(reaching({ deny: [rule] }), 'deny', rule)
    assert.equal(reaching({ allow: [rule] }), 'allow', rule)
  }
  const part = 'fetch(https://example.com/secret/*)'
  assert.deepEqual([reaching({ deny: [part] }), reaching({ allow: [part] })], ['deny', 'nothing'])
  for (const rule of ['fetch(https://example.org/*)', 'fetch(http://example.com*)', 'shell(*)'])
    assert.deepEqual([reaching({ deny: [rule] }), reaching({ allow: [rule] })], ['nothing', 'nothing'], rule)
})

test('paths are looked at without their detours, in full and from the directory', () => {
  const write = (file_path: string): string => says({ allow: ['Write(/tmp/*)'] }, 'Write', { file_path })
  assert.equal(write('/tmp/a/b'), 'allow')
  for (const path of ['/tmp/../etc/passwd', '/tmp/./../etc/x', '/tmp//../etc/x', '/etc/x', '../../tmp']) {
    assert.equal(write(path), 'nothing', path)
  }
  assert.equal(says({ deny: ['Read(/etc/*)'] }, 'Read', { file_path: '/tmp/../etc/shadow' }), 'deny')
  const near = (file_path: string): string => says({ allow: ['edit(src/*)'] }, 'Edit', { file_path })
  for (const path of ['src/a', './src/a', '/srv/app/src/a', '../app/src/a'])
    assert.equal(near(path), 'allow', path)
  assert.equal(says({ deny: ['edit(./.env)'] }, 'Edit', { file_path: '/srv/app/.env' }), 'deny')
  for (const path of ['src/../../x', '/srv/src/a', '../src/a']) assert.equal(near(path), 'nothing', path)
})

test('what is said of a file in a checkout holds for the same file in a worktree of it', () => {
  const site = { now: 0, cwd: '/trees/1', worktreeOf: '/srv/app' }
  const question = (file_path: string) => aQuestion('a', { tool: 'Edit', input: { file_path }, edits: true })
  const decided = (rules: Partial<Rules>, file_path: string): string =>
    ruleDecision([{ ...NO_RULES, ...rules }], question(file_path), site)?.behavior ?? 'nothing'
  assert.equal(decided({ deny: ['edit(/srv/app/.env)'] }, '.env'), 'deny')
  assert.equal(decided({ deny: ['edit(/srv/app/.env)'] }, '/trees/1/.env'), 'deny')
  assert.equal(decided({ allow: ['edit(/srv/app/src/*)'] }, 'src/a'), 'allow')
  assert.equal(decided({ allow: ['edit(/srv/app/*)'] }, '../2/a'), 'nothing')
  assert.equal(decided({ allow: ['edit(/srv/app/*)'] }, '/etc/x'), 'nothing')
  assert.deepEqual(rulesFor(question('src/a'), site), ['Edit(/trees/1/*)'])
  assert.deepEqual(rulesFor(question('src/a'), site, true), ['Edit(/srv/app/*)'])
  assert.deepEqual(rulesFor(question('/etc/x'), site, true), ['Edit(/etc/x)'])
  const read = aQuestion('a', { tool: 'Read', input: { file_path: 'b/c' } })
  assert.deepEqual(rulesFor(read, site, true), ['Read(/srv/app/b/c)'])
})

test('every file and address that a tool of a server is given counts', () => {
  const both = { file_path: '/tmp/a', path: '/etc/passwd' }
  assert.equal(says({ allow: ['mcp__fs__write(/tmp/*)'] }, 'mcp__fs__write', both), 'nothing')
  assert.equal(says({ deny: ['mcp__fs__*(/etc/*)'] }, 'mcp__fs__write', both), 'deny')
  const move = { source: '/tmp/a', destination: '/etc/x' }
  assert.equal(says({ allow: ['mcp(/tmp/*)'] }, 'mcp__fs__move', move), 'nothing')
  assert.equal(says({ allow: ['mcp(/tmp/*)'] }, 'mcp__fs__read', { paths: ['/tmp/a', '/tmp/b'] }), 'allow')
  assert.equal(says({ allow: ['mcp(/tmp/*)'] }, 'mcp__fs__read', { paths: ['/tmp/a', '/etc/b'] }), 'nothing')
})
