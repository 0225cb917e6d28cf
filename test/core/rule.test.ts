import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { About } from '../../src/core/about.ts'
import { rulesFor, type Rules } from '../../src/core/rule.ts'
import { aQuestion } from '../support/session.ts'
import { EVERYDAY, HARMLESS, ODD_PUSHES, PUSHES } from '../support/spellings.ts'
import { says, WHERE } from './ruling.ts'

const allows = (rules: string | string[], command: string): boolean =>
  says({ allow: [rules].flat() }, 'Bash', { command }) === 'allow'
const denies = (rule: string, command: string): boolean =>
  says({ deny: [rule] }, 'Bash', { command }) === 'deny'

test('a command is refused however it is spelled', () => {
  for (const command of PUSHES) assert.ok(denies('shell(git push*)', command), command)
  for (const command of HARMLESS) assert.ok(!denies('shell(git push*)', command), command)
})

test('a command is refused in whatever odd way a shell comes to it', () => {
  for (const command of ODD_PUSHES) assert.ok(denies('shell(git push*)', command), command)
})

test('what agents write all day is not refused', () => {
  for (const command of EVERYDAY) assert.ok(!denies('shell(git push*)', command), command)
})

test('a rule that names a place is meant where the place is not known', () => {
  assert.ok(denies('shell(/opt/deploy*)', '"$DIR/deploy" now'))
  assert.ok(denies('shell(*/deploy*)', '"$DIR/deploy" now'))
  assert.ok(denies('shell(deploy*)', '"$DIR/deploy" now'))
  assert.ok(!denies('shell(deploy*)', '"$DIR/other" deploy'))
})

test('a program in the directory is refused by its place as seen from there, and in full', () => {
  const commands = [
    './deploy.sh now',
    './/deploy.sh',
    '././deploy.sh',
    '/srv/app/deploy.sh',
    'sh /srv/app/deploy.sh',
  ]
  for (const pattern of ['./deploy.sh*', '/srv/app/deploy.sh*'])
    for (const command of commands)
      assert.ok(denies(`shell(${pattern})`, command), `${pattern} and ${command}`)
  for (const command of ['./other.sh', '/srv/deploy.sh', '/srv/app/x/deploy.sh'])
    assert.ok(!denies('shell(./deploy.sh*)', command), command)
})

test('options between the words of a rule make no other command of it', () => {
  for (const [pattern, command] of [
    ['docker compose down*', 'docker compose -f x.yml down'],
    ['docker compose down*', 'docker --context y compose --profile=x -f "$F" down -v'],
    ['gh pr merge*', 'gh pr -R x/y merge 1'],
    ['npm run deploy', 'npm run -s deploy'],
    ['git push origin main', 'git push --force origin main'],
  ]) {
    assert.ok(denies(`shell(${pattern})`, command!), command)
  }
  assert.ok(!denies('shell(docker compose down*)', 'docker compose -f x.yml up -d down'))
  assert.ok(!denies('shell(git push origin main)', 'git push origin other'))
})

test('a script is run, whoever is given it', () => {
  for (const pattern of ['./deploy.sh*', 'deploy.sh*', './deploy.sh now'])
    for (const command of ['bash deploy.sh now', 'sudo sh -x ./deploy.sh now', '. ./deploy.sh now'])
      assert.ok(denies(`shell(${pattern})`, command), `${pattern} and ${command}`)
  assert.ok(!denies('shell(./deploy.sh*)', 'bash ./other.sh deploy.sh'))
  assert.ok(!denies('shell(./deploy.sh*)', 'bash -c deploy.sh'))
})

test('texts in other languages are refused for the words of a rule, not for letters in other words', () => {
  assert.ok(denies('shell(rm *)', `python3 -c 'os.system("cd x\\nrm y")'`))
  assert.ok(denies('shell(rm *)', "perl -e 'system(qw(rm x))'"))
  assert.ok(!denies('shell(rm *)', `node -e 'format("normal", "docker-rm", rms)'`))
})

test('a pattern that ends in a space and a star fits where nothing follows, as does the spelling of Claude', () => {
  for (const pattern of ['git push *', 'git push:*', 'git push*']) {
    assert.ok(denies(`shell(${pattern})`, 'git push'), pattern)
    assert.ok(denies(`shell(${pattern})`, 'git push -f'), pattern)
    assert.ok(allows(`shell(${pattern})`, 'git push'), pattern)
  }
  assert.ok(!denies('shell(git push *)', 'git pushy'))
  assert.ok(!denies('shell(git push:*)', 'git pushy'))
})

test('what cannot be read is refused by a rule that could apply, and passes by none', () => {
  const riddles = [
    'git push "',
    'if git; then',
    '$X',
    'eval "$X"',
    'curl x | sh',
    'source <(curl x)',
    'a=$(',
    'x\0',
  ]
  for (const command of [...riddles, 'ls *(e:"rm x":)', `echo ${'x'.repeat(70_000)}`]) {
    assert.ok(denies('shell(git push*)', command), command.slice(0, 40))
    assert.ok(!allows(['shell(git*)', 'shell(ls *)', 'shell(echo *)'], command), command.slice(0, 40))
  }
})

test('wrappers are looked through, and shells in shells', () => {
  const wrapped = [
    'sudo -u bob git push',
    'timeout -k 5 20 nice -n 3 env -u A B=1 git push',
    'ssh -p 22 host "cd x && git push"',
    'bash -c \'sh -c "git push"\'',
    "su -c 'git push' bob",
    "trap 'git push' EXIT",
    'watch -n 5 git push',
    'xargs -I{} git {}',
    'busybox sh -c "git push"',
    'stdbuf -oL git push',
    `python3 -c 'import os; os.system("git push")'`,
    "python3 - <<'EOF'\nsubprocess.run(['git', 'push'])\nEOF",
    'GIT push',
    '=git push',
    '{git,push}',
    '/usr/bin/gi? push',
  ]
  for (const command of wrapped) assert.ok(denies('shell(git push*)', command), command)
})

test('a star stands for anything within a command, not for another command', () => {
  assert.ok(allows('shell(npm test*)', 'npm test -- --watch'))
  assert.ok(allows('shell(npm test*)', 'npm  test  2>&1'))
  assert.ok(allows('shell(npm test*)', 'npm test "$X" # a remark'))
  const more = [
    '; rm -rf ~',
    ' && rm x',
    ' | sh',
    ' > /etc/passwd',
    '\nrm x',
    ' $(rm x)',
    ' `rm x`',
    ' & rm x',
  ]
  for (const rest of [...more, ' <(rm x)', ' "$(rm x)"', ' ${x:-$(rm x)}', ' <<EOF\n$(rm x)\nEOF', ' < x']) {
    assert.ok(!allows('shell(npm test*)', `npm test${rest}`), rest)
  }
  const other = ['X=1 npm test', 'env npm test', '"npm" test', '{ npm test; } > x', 'f() { npm test; }; rm x']
  for (const command of [...other, 'LD_PRELOAD=x npm test', 'sh -c "npm test"', '/tmp/npm test']) {
    assert.ok(!allows('shell(npm test*)', command), command)
  }
  for (const rule of ['shell(*)', 'shell', 'Bash', 'command', '*'])
    assert.ok(allows(rule, 'any; thing "'), rule)
})

test('what sets a variable, or evaluates one, is more than the commands that it stands around', () => {
  const rules = [
    'npm test*',
    'echo *',
    'printf *',
    'print *',
    'test *',
    '[ *',
    'read *',
    'export *',
    'set *',
    'wait *',
  ].map((one) => `shell(${one})`)
  const more = [
    'for PATH in $PWD/x; do npm test; done',
    'echo $((PATH=1)); npm test',
    'printf -v PATH x; npm test',
    'export PATH=x; npm test',
    'read PATH; npm test',
    "printf '123%n' PATH; npm test",
    'wait -n -p PATH; npm test',
    'print -v PATH x; npm test',
    'set -A path x; npm test',
    'echo {PATH}>&1; npm test',
    'npm() { echo; }; npm test',
    'coproc npm test',
    "echo hi && [[ 'a[$(rm x)]' -eq 0 ]]",
    "echo hi; (( 'a[$(rm x)]' ))",
    "echo $(( 'a[$(rm x)]' ))",
    "echo ${x['$(rm x)']}",
    "echo $x['$(rm x)']",
    "echo ${x:'a[$(rm x)]'}",
    'echo ${!x}',
    "printf -v 'a[$(rm x)]' x",
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "read 'a[$(rm x)]'",
    // Other shells than bash see the end of the quotes elsewhere.
    "echo $'\\'; rm x #'",
    `echo "\${x:-'}"; rm x; echo "'}"`,
    `echo "\${x/a/'$(rm x)'}"`,
  ]
  for (const command of more) assert.ok(!allows(rules, command), command)
  for (const command of [
    'test -f x && npm test',
    'echo "${X}" $Y ~/x *.ts',
    'while test x; do npm test; done',
    "set -eu; printf '%s\\n' a; wait; npm test",
  ])
    assert.ok(allows(rules, command), command)
})

test('a line passes when each of its commands does', () => {
  const both = ['shell(cd *)', 'shell(npm test*)']
  assert.ok(allows(both, 'cd web && npm test'))
  assert.ok(allows(both, 'if cd web; then npm test; fi'))
  assert.ok(!allows(both, 'cd web; rm x && npm test'))
  assert.ok(!allows('shell(npm test*)', 'cd web && npm test'))
})

test('the rule for a command lets that command pass and no other, stars and backslashes and all', () => {
  for (const command of ['ls', 'touch *.x', 'echo \\* "a\\\\b"', 'a && b', 'x)', '*', '\\', 'X=1 a > b']) {
    const rules = rulesFor(aQuestion('a', { tool: 'Bash', input: { command } }), { cwd: '/' })
    assert.ok(allows(rules, command), String(rules))
    for (const other of [`${command}x`, `${command};x`, 'touch /dev/null; touch pwned.x', 'anything']) {
      assert.ok(!allows(rules, other), `${String(rules)} and ${other}`)
    }
  }
})

test('a rule speaks of a class, whatever an agent calls its tool', () => {
  const input = { command: 'git push' }
  for (const rule of ['shell', 'Bash(git push*)', 'command(git push*)', 'run_shell_command(git push)']) {
    for (const tool of ['Bash', 'bash', 'command', 'run_shell_command', 'Terminal', 'anything']) {
      assert.equal(says({ deny: [rule] }, tool, input), 'deny', `${rule} and ${tool}`)
    }
    assert.equal(says({ deny: [rule] }, 'Read', { file_path: '/git push' }), 'nothing')
  }
  assert.equal(says({ deny: ['edit(*.env)'] }, 'Write', { file_path: '/a/.env' }), 'deny')
  assert.equal(says({ deny: ['mcp'] }, 'mcp__files__read', {}), 'deny')
  assert.equal(says({ deny: ['mcp__files__*'] }, 'mcp__files__read', {}), 'deny')
  assert.equal(says({ deny: ['mcp__files__*'] }, 'mcp__other__read', {}), 'nothing')
})

test('a command that is told in words is a command', () => {
  for (const input of [
    { command: 'git', args: ['push'] },
    { command: ['git', 'push'] },
    { command: ['bash', '-lc', "cd 'x' && git push"] },
    { cmd: ['git', 'push'] },
  ]) {
    assert.equal(says({ deny: ['shell(git push*)'] }, 'Bash', input), 'deny', JSON.stringify(input))
    assert.equal(says({ allow: ['shell(git)'] }, 'Bash', input), 'nothing', JSON.stringify(input))
  }
  assert.equal(says({ allow: ['shell(git log*)'] }, 'Bash', { command: ['git', 'log', '-1'] }), 'allow')
  assert.equal(says({ allow: ['shell(git log*)'] }, 'Bash', { command: 'git', args: ['log', ';x'] }), 'allow')
})

test('a tool of a server is known as one with the names of other agents, too', () => {
  for (const rule of ['mcp', 'mcp__files__*', 'mcp_files_read'])
    assert.equal(says({ deny: [rule] }, 'mcp_files_read', {}), 'deny', rule)
  assert.equal(says({ allow: ['mcp__files__*'] }, 'mcp_files_admin_drop', {}), 'nothing')
  const about: About = { class: 'mcp', subjects: [] }
  assert.equal(says({ deny: ['mcp__files__*'] }, 'files_read', {}, about), 'deny')
  assert.equal(says({ deny: ['mcp__other__*'] }, 'files_read', {}, about), 'nothing')
})

test('a yes for ever to what has not said what it is about is none', () => {
  for (const [tool, known] of [
    ['Edit', 'edit'],
    ['Read', 'read'],
    ['WebFetch', 'fetch'],
    ['Bash', 'shell'],
  ] as const) {
    const question = aQuestion('a', { tool, input: {}, about: { class: known, subjects: [] } })
    assert.deepEqual(rulesFor(question, { cwd: '/' }), [], tool)
  }
  assert.deepEqual(rulesFor(aQuestion('a', { tool: 'mcp__a__b', input: {} }), { cwd: '/' }), ['mcp__a__b'])
})

test('a yes for ever to an edit is one for the directory, and for no file outside of it', () => {
  const rules = (file_path: string): string[] =>
    rulesFor(aQuestion('a', { tool: 'Edit', input: { file_path }, edits: true }), WHERE)
  assert.deepEqual(rules('src/a'), ['Edit(/srv/app/*)'])
  assert.deepEqual(rules('/etc/x'), ['Edit(/etc/x)'])
  const root = rulesFor(aQuestion('a', { tool: 'Edit', input: { file_path: '/a' }, edits: true }), {
    cwd: '/',
  })
  assert.deepEqual(root, ['Edit(/*)'])
  assert.equal(says({ allow: rules('src/a') }, 'Write', { file_path: '/srv/app/b' }), 'allow')
  assert.equal(says({ allow: rules('src/a') }, 'Write', { file_path: '/srv/other' }), 'nothing')
})

test('a tool that calls itself by the name of a class does not pass for it', () => {
  const about: About = { class: 'shell', subjects: ['rm x'] }
  assert.equal(says({ allow: ['Read'] }, 'Read', {}, about), 'nothing')
  assert.equal(says({ deny: ['Read'] }, 'Read', {}, about), 'deny')
})

test('an edit of several files is refused for any of them, and passes when each passes', () => {
  const edit = (rules: Partial<Rules>, ...subjects: string[]): string =>
    says(rules, 'fileChange', {}, { class: 'edit', subjects })
  assert.equal(edit({ deny: ['Edit(*/secret*)'] }, '/srv/app/a', '/srv/app/secret.txt'), 'deny')
  assert.equal(edit({ allow: ['edit(/srv/app/a*)'] }, '/srv/app/a1', '/srv/app/a2'), 'allow')
  assert.equal(edit({ allow: ['edit(/srv/app/a*)'] }, '/srv/app/a1', '/srv/app/b'), 'nothing')
  assert.equal(edit({ allow: ['edit(a*)', 'Write(b*)'] }, '/srv/app/a1', 'b'), 'allow')
})

test('where it is not said which files are meant, a pattern refuses and lets nothing pass', () => {
  const about: About = { class: 'edit', subjects: [] }
  assert.equal(says({ deny: ['edit(/etc/*)'] }, 'Edit', {}, about), 'deny')
  assert.equal(says({ allow: ['edit(/etc/*)'] }, 'Edit', {}, about), 'nothing')
  assert.equal(says({ allow: ['edit'] }, 'Edit', {}, about), 'allow')
})

test('long texts and many holes take no time', () => {
  const many = Array.from({ length: 900 }, (_, i) => `echo $X${i} ${'y'.repeat(50)}`).join('; ')
  assert.ok(!denies('shell(git push*)', many))
  assert.ok(denies('shell(git push*)', `${many}; git push`))
  assert.ok(denies('shell(*a*b*c*d*e*)', `echo ${'$X '.repeat(10_000)}`))
})

test('what is made to be hard to read is not read, and nothing breaks', () => {
  const fill = (text: string): string => text.repeat(60_000 / text.length)
  const hard = ['{', '{a,', '$[', '$(', '<<$(', '`', '${x:-', 'env ', '(', 'a=1 ', 'docker run '].map(fill)
  for (const command of [...hard, `git ${fill('-a ')}`, `git ${fill('-a x ')}`, `env ${fill('-a env ')}`]) {
    assert.ok(denies('shell(git push*)', command), command.slice(0, 20))
    assert.ok(!allows('shell(git *)', command) || command.startsWith('git'), command.slice(0, 20))
  }
})
