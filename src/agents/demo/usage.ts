import type { Usage } from '../../core/usage.ts'

/** Four characters are a token, and nothing costs anything. */
export function usageOf(prompt: string, chars: number, modelCalls: number, durationMs: number): Usage {
  return {
    inputTokens: Math.ceil(prompt.length / 4),
    outputTokens: Math.ceil(chars / 4),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd: 0,
    modelCalls,
    durationMs,
  }
}
