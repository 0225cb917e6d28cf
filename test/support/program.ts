import { join } from 'node:path'
export const SOURCES = join(import.meta.dirname, '../../src/main.ts')

/** The program that tests start: `npm test` bundles it first, which starts in half the time; a file by itself runs the sources. */
export const MAIN = process.env['TEST_PROGRAM'] ?? SOURCES
