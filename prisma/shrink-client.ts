/**
 * Reduces the memory of the generated Prisma Client. Runs after `prisma generate`.
 *
 * - Loads the query compiler from a binary file. As base64 it would be in memory twice, as source text and as a constant: 4.4 MB.
 * - Escapes characters beyond Latin-1. A single one, such as an emoji in a comment, makes V8 store the whole source with two bytes for
 *   each character: 1.3 MB.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const FOLDER = path.join(import.meta.dirname, '../src/generated/prisma/internal')
const WASM_FILE = 'query-compiler.wasm'
const LOAD_FROM_BASE64 =
  /getQueryCompilerWasmModule: async \(\) => \{\s+const \{ wasm \} = await import\("([^"]+)"\)\s+return await decodeBase64AsWasm\(wasm\)\s+\}/

await loadCompilerFromFile()
for (const file of ['class.ts', 'prismaNamespace.ts']) rewrite(file, escapeWideCharacters)

async function loadCompilerFromFile(): Promise<void> {
  let specifier: string | undefined
  rewrite('class.ts', (source) =>
    source.replace(LOAD_FROM_BASE64, (_match, found: string) => {
      specifier = found
      return `getQueryCompilerWasmModule: async () => {
    const { readFile } = await import('node:fs/promises')
    return new WebAssembly.Module(await readFile(new URL('./${WASM_FILE}', import.meta.url)))
  }`
    }),
  )
  if (!specifier)
    throw new Error('The generated Prisma Client loads its query compiler differently: adapt prisma/shrink-client.ts.')
  const { wasm } = (await import(specifier)) as { wasm: string }
  writeFileSync(path.join(FOLDER, WASM_FILE), Buffer.from(wasm, 'base64'))
}

function rewrite(file: string, change: (source: string) => string): void {
  const filePath = path.join(FOLDER, file)
  writeFileSync(filePath, change(readFileSync(filePath, 'utf8')))
}

/** Escapes characters beyond Latin-1. Generated sources have them in comments and string literals only. */
function escapeWideCharacters(source: string): string {
  return source.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
