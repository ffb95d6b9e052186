// node .ci/architecture.ts: draws the imports between folders of src/ into docs/architecture.md. With --check it fails if the page is outdated.
import { readFile, writeFile } from 'node:fs/promises'
import { cruise, type ICruiseResult } from 'dependency-cruiser'

const PAGE = 'docs/architecture.md'

type Graph = Map<string, Set<string>>

/** @param folders parent of the folders to draw. @param leftOut pattern of excluded paths. */
async function readImports(folders: string, leftOut: string): Promise<Graph> {
  const { output } = await cruise(['src'], {
    includeOnly: '^src/',
    exclude: `generated/|/browser/|${leftOut}`,
    collapse: `^${folders}/[^/]+`,
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts'] },
  })
  const nameOf = (path: string) => path.slice(folders.length + 1).replace(/\.ts$/, '')
  const { modules } = output as ICruiseResult
  const within = modules.filter(({ source }) => source.startsWith(`${folders}/`) && !/\.(css|json|md)$/.test(source))
  const graph: Graph = new Map(within.map(({ source }) => [nameOf(source), new Set()]))
  for (const { source, dependencies } of within)
    for (const { resolved } of dependencies) if (graph.has(nameOf(resolved))) graph.get(nameOf(source))!.add(nameOf(resolved))
  return graph
}

/** Removes imports that others imply. */
function reduce(graph: Graph): Graph {
  const reach = (from: string): Set<string> =>
    new Set([...graph.get(from)!].filter((to) => to !== from).flatMap((to) => [to, ...reach(to)]))
  const isImplied = (from: string, to: string) =>
    [...graph.get(from)!].some((other) => other !== to && other !== from && reach(other).has(to))
  return new Map(
    [...graph].map(([from, to]) => [from, new Set([...to].filter((one) => one !== from && !isImplied(from, one)))] as const),
  )
}

function draw(graph: Graph): string {
  const arrows = [...reduce(graph)].flatMap(([from, to]) => [...to].map((one) => `  ${from} --> ${one}`))
  return ['```mermaid', 'flowchart TD', ...arrows.sort(), '```'].join('\n')
}

const pictures = {
  folders: draw(await readImports('src', '^src/(server|cli|dev|bundle|compile)\\.ts')),
  rooms: draw(await readImports('src/domain', '^src/domain/[^/]+\\.ts')),
}
const page = await readFile(PAGE, 'utf8')
const drawn = page.replace(
  /(<!-- (\w+): drawn by .+? -->\n)[\s\S]*?(<!-- end -->)/g,
  (_, begin: string, name: keyof typeof pictures, end: string) => `${begin}\n${pictures[name]}\n\n${end}`,
)
if (!process.argv.includes('--check')) await writeFile(PAGE, drawn)
else if (drawn !== page) {
  process.stderr.write(`${PAGE} is outdated: run npm run architecture\n`)
  process.exitCode = 1
}
