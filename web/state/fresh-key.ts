/** A key that makes a call safe to repeat. Works on pages without TLS, too, where `randomUUID` is not to be had. */
export function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
