/**
 * The style of the reference: light and dark, from 360 px up. A style of its own, because a reference is a wide page with a column of
 * links, and the pages of `web` are narrow forms. The policy allows it by its digest.
 */
export const REFERENCE_STYLE = `:root{color-scheme:light dark;--ink:#1d2228;--soft:#59626d;--line:#dde1e6;--paper:#fff;--ground:#f5f6f8;--accent:#1f5fbf;--get:#17663a;--write:#8a4b08;--remove:#a3191f}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#a3adb8;--line:#333c46;--paper:#1b2026;--ground:#12161b;--accent:#8ab6ff;--get:#7fd6a3;--write:#f0b46a;--remove:#ff9a96}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}
nav{padding:1rem 1.25rem;border-bottom:1px solid var(--line);font-size:.95rem}
nav p{margin:0 0 .25rem;font-weight:600}
nav ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
nav ul ul{display:none}
main{max-width:54rem;padding:0 1.25rem 4rem}
h1{font-size:1.8rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.35rem;margin:2.5rem 0 .5rem}
h3{font-size:1.05rem;margin:0 0 .5rem}
h4{font-size:.85rem;margin:1rem 0 .25rem;color:var(--soft)}
p{margin:0 0 .5rem}
article{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:1rem 1.25rem;margin:1rem 0}
code,pre{font:.875em/1.5 ui-monospace,monospace}
pre{margin:0;padding:.75rem;background:var(--ground);border:1px solid var(--line);border-radius:.4rem;overflow-x:auto;overflow-wrap:normal}
.name{font-weight:600}
.type,.soft{color:var(--soft)}
.title{margin:.5rem 0 0;font-weight:600;font-size:.9rem}
.fields{list-style:none;margin:0;padding:0}
.fields>li{border-top:1px solid var(--line);padding:.35rem 0}
.fields>li>p{margin:0;font-size:.95rem}
.fields .fields{margin:.25rem 0 0 .25rem;padding-left:.9rem;border-left:2px solid var(--line)}
.fields .fields>li:first-child{border-top:0}
li>b,.fields b{font-size:.8rem}
.plain{padding-left:1.25rem}
.get{color:var(--get)}
.post,.put,.patch{color:var(--write)}
.delete{color:var(--remove)}
@media(min-width:64rem){body{display:grid;grid-template-columns:22rem 1fr}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;border:0;border-right:1px solid var(--line)}
nav ul{display:block}
nav ul ul{display:block;margin:0 0 .75rem;font-size:.8rem}
nav li{margin:.15rem 0}
main{padding:0 2.5rem 4rem}}`;
