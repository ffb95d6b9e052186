import { readFile } from 'node:fs/promises'

/** Reads the exported variables and the commands of a guide, in order. */
export async function readGuide(name: string) {
  const text = await readFile(`docs/guides/${name}.md`, 'utf8')
  const [exported, ...commands] = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
  return { names: [...exported!.matchAll(/^export (\w+)=/gm)].map(([, name]) => name), script: commands.join('\n') }
}
