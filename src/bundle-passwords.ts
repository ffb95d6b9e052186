import { writeFileSync } from 'node:fs'
import { dictionary } from '@zxcvbn-ts/language-common'

/** Writes the common passwords, one per line in byte order, for the lookup in domain/sign-in/common-passwords.ts. */
export function writeCommonPasswords(file: string): void {
  const lines = [...new Set(dictionary['passwords-common'].map((word) => String(word).toLowerCase()))]
  writeFileSync(
    file,
    lines
      .map((word) => Buffer.from(word))
      .toSorted(Buffer.compare)
      .join('\n'),
  )
}
