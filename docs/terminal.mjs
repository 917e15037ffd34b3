// node docs/terminal.mjs RECORDING COMMAND SVG: draws a recorded command as an SVG that types itself, line by line.
import { readFileSync, writeFileSync } from "node:fs";

const [recording, command, svg] = process.argv.slice(2);
if (svg === undefined) throw new Error("usage: node docs/terminal.mjs RECORDING COMMAND SVG");
const [LINE, CHARACTER, MARGIN, TOP, STEP_S] = [20, 7.8, 18, 50, 0.25];
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const lines = [`$ ${command}`, ...readFileSync(recording, "utf8").trimEnd().split("\n")];
const columns = Math.max(...lines.map((line) => line.length));
const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * MARGIN, TOP + lines.length * LINE + 8];
const drawn = lines.map((line, index) => {
  const text = escaped(line).replace(/^✓/, '<tspan class="ok">✓</tspan>');
  const at = `x="${MARGIN}" y="${TOP + index * LINE}" style="animation-delay:${(index * STEP_S).toFixed(2)}s"`;
  return `<text ${at}${index === 0 ? ' class="typed"' : ""}>${text}</text>`;
});
writeFileSync(
  svg,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(`Output of ${command}`)}">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre;opacity:0;animation:show .1s forwards}
.typed{fill:#fff;font-weight:bold}.ok{fill:#3fb950}@keyframes show{to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{animation:none;opacity:1}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g><circle cx="20" cy="18" r="6" fill="#ff5f56"/><circle cx="40" cy="18" r="6" fill="#ffbd2e"/><circle cx="60" cy="18" r="6" fill="#27c93f"/></g>
${drawn.join("\n")}
</svg>
`,
);
