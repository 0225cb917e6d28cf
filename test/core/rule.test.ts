import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_RULES, ruleDecision, ruleFor, type Rules } from '../../src/core/rule.ts'
import { aQuestion } from '../support/session.ts'

function says(rules: Partial<Rules>, tool: string, input: unknown): string {
  const decision = ruleDecision([{ ...NO_RULES, ...rules }], aQuestion('a', { tool, input }), 0)
  return decision?.behavior ?? 'nothing'
}

const allows = (rule: string, command: string): boolean =>
  says({ allow: [rule] }, 'Bash', { command }) === 'allow'
const denies = (rule: string, command: string): boolean =>
  says({ deny: [rule] }, 'Bash', { command }) === 'deny'

test('a star stands for anything within a command, not for another command', () => {
  assert.ok(allows('Bash(npm test*)', 'npm test -- --watch'))
  for (const more of [
    '; rm -rf ~',
    ' && rm x',
    ' | sh',
    ' > /etc/passwd',
    '\nrm x',
    ' $(rm x)',
    ' `rm x`',
    ' & rm x',
  ]) {
    assert.ok(!allows('Bash(npm test*)', `npm test${more}`), more)
  }
  assert.ok(allows('Bash(cd * && npm test)', 'cd web && npm test'))
  assert.ok(!allows('Bash(cd * && npm test)', 'cd web; rm x && npm test'))
  assert.ok(allows('Bash(*)', 'anything; at all'))
  assert.ok(allows('Bash', 'anything; at all'))
})

test('a command is refused for any part of it', () => {
  for (const command of [
    'git push',
    'git push -f',
    'cd x && git push',
    'true; git push',
    '(git push)',
    'a | git push',
  ]) {
    assert.ok(denies('Bash(git push*)', command), command)
  }
  assert.ok(!denies('Bash(git push*)', 'git pull'))
})

test('the rule for a command lets that command pass and no other, stars and backslashes and all', () => {
  for (const command of ['ls', 'touch *.x', 'echo \\* "a\\\\b"', 'a && b', 'x)', '*', '\\']) {
    const rule = ruleFor(aQuestion('a', { tool: 'Bash', input: { command } }))
    assert.ok(allows(rule, command), rule)
    for (const other of [`${command} `, `${command}x`, 'touch /dev/null; touch pwned.x', 'anything']) {
      assert.ok(!allows(rule, other), `${rule} and ${other}`)
    }
  }
})

test('paths are looked at without their detours', () => {
  const write = (file_path: string): string => says({ allow: ['Write(/tmp/*)'] }, 'Write', { file_path })
  assert.equal(write('/tmp/a/b'), 'allow')
  for (const path of ['/tmp/../etc/passwd', '/tmp/./../etc/x', '/tmp//../etc/x', '/etc/x']) {
    assert.equal(write(path), 'nothing', path)
  }
  assert.equal(says({ deny: ['Read(/etc/*)'] }, 'Read', { file_path: '/tmp/../etc/shadow' }), 'deny')
})
