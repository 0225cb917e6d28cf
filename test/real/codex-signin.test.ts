import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { CODEX, codexAbsent } from '../support/codex-env.ts'
import { startSignIn } from '../signin/support.ts'

test('the real Codex takes the login file that Corral writes', { skip: codexAbsent }, async () => {
  const at = await startSignIn()
  try {
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
    assert.equal((await at.end(flowId)).state, 'completed')
    const env = { PATH: process.env['PATH'], HOME: at.home }
    const { stdout, stderr } = await promisify(execFile)(CODEX, ['login', 'status'], { env })
    assert.match(stdout + stderr, /Logged in using ChatGPT/)
  } finally {
    await at.stop()
  }
})
