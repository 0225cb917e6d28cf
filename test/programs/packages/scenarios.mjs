/** What a script is told by whoever starts it. */
export const { RELAY_URL: url, CALL_PREFIX: prefix = '' } = process.env
export const MODEL = 'claude-sonnet-4-6'

/** A prompt that has the agent call a tool. */
export function calling(...calls) {
  const pairs = calls.map(
    ([name, input]) => `${prefix}${name} ${Buffer.from(JSON.stringify(input)).toString('base64')}`,
  )
  return `[[call ${pairs.join(' ')}]]`
}

/** A prompt that has the agent say this, whatever is in it. */
export function saying(text) {
  return `[[say64 ${Buffer.from(text).toString('base64')}]]`
}

/** Runs each, and prints what came of it: one JSON object on one line. */
export async function play(scenarios) {
  const wanted = process.argv.slice(2)
  const results = {}
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    try {
      results[name] = { value: (await scenario()) ?? null }
    } catch (error) {
      results[name] = {
        error: `${error?.name}: ${error?.message}`,
        status: error?.statusCode ?? error?.status ?? null,
      }
    }
  }
  process.stdout.write(`${JSON.stringify(results)}\n`)
  process.exit(0)
}
