// node .ci/kubernetes.ts: checks ops/kubernetes against Kubernetes' types, which also finds misspelled fields. With kubectl it checks the output
// of Kustomize for the base and each overlay. Without kubectl it checks the files themselves, but not the overlays' patches.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'

type KubernetesObject = { apiVersion: string; kind: string }

const FOLDER = 'ops/kubernetes'
const OUTPUT = 'node_modules/.cache/kubernetes'
const KUSTOMIZATIONS = globSync(`${FOLDER}/**/kustomization.yaml`)

const readObjects = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0]
    return document.toJS()
  })

function build(kustomization: string): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', path.dirname(kustomization)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return readObjects(stdout)
}

/** Reads the files that a kustomization lists as resources. Other files are patches, which are not whole objects. */
function readResources(kustomization: string): KubernetesObject[] {
  const [{ resources }] = readObjects(readFileSync(kustomization, 'utf8')) as [KubernetesObject & { resources: string[] }]
  const files = resources.filter((name) => name.endsWith('.yaml')).map((name) => path.join(path.dirname(kustomization), name))
  return files.flatMap((file) => readObjects(readFileSync(file, 'utf8')))
}

/** Module of kubernetes-types: core/v1 for v1, networking/v1 for networking.k8s.io/v1. */
const moduleOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.replace(/\.[^/]*/, '') : `core/${apiVersion}`

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
if (!hasKubectl) process.stdout.write('kubectl is not installed: the overlays are not checked.\n')
rmSync(OUTPUT, { recursive: true, force: true })
mkdirSync(OUTPUT, { recursive: true })
const files = KUSTOMIZATIONS.map((kustomization) => {
  const file = path.join(OUTPUT, `${path.dirname(path.relative(FOLDER, kustomization)).replaceAll('/', '-')}.ts`)
  const objects = (hasKubectl ? build : readResources)(kustomization)
  const checks = objects.map(
    (object) =>
      `;(${JSON.stringify(object, null, 2)}) satisfies import('kubernetes-types/${moduleOf(object.apiVersion)}').${object.kind}\n`,
  )
  writeFileSync(file, `${checks.join('')}export {}\n`)
  return file
})
const options = [
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--ignoreConfig',
  '--target',
  'esnext',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
]
const { status } = spawnSync('node', ['node_modules/typescript-7/bin/tsc', ...options, ...files], { stdio: 'inherit' })
process.exitCode = status ?? 1
