import { writeFileSync } from 'node:fs'
import { dictionary } from '@zxcvbn-ts/language-common'

/** Writes the passwords that are tried first, a line each, in the order of their bytes: domain/sign-in/common-passwords.ts looks them up. */
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
