<#
.SYNOPSIS
  Tries a coffer.exe on a Windows machine and writes one result file to send back.

.DESCRIPTION
  Needs Windows 10 or later, WinFsp (https://winfsp.dev) and coffer.exe. Needs no administrator. Works in a new folder
  below -Work and removes it again; nothing else on the machine is changed. Takes about five minutes.
  The result file holds the versions of Windows, WinFsp and Coffer, one line per check, and what failed checks printed.
  It holds no file names of yours and no password (a random one is used).

.EXAMPLE
  powershell -ExecutionPolicy Bypass -File windows-test.ps1 -Coffer .\coffer.exe
#>
[CmdletBinding()]
param(
    [string]$Coffer = '.\coffer.exe',
    [string]$Work = $env:TEMP,
    [string]$Result = '.\coffer-windows-result.txt',
    [int]$SpeedMiB = 512
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$Coffer = (Resolve-Path -LiteralPath $Coffer).Path
$Result = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Result)
$folder = Join-Path $Work ('coffer-test-' + [guid]::NewGuid().ToString('N').Substring(0, 8))
[void](New-Item -ItemType Directory -Path $folder)
$image = Join-Path $folder 'test.img'
$script:password = [guid]::NewGuid().ToString() + [guid]::NewGuid().ToString()
$script:passed = 0
$script:failed = @()
$script:lines = New-Object System.Collections.Generic.List[string]

function Say([string]$line) { $script:lines.Add($line); Write-Host $line }

# Run-Coffer runs coffer with the password on its standard input and returns its exit code; its output is in $script:out.
function Run-Coffer {
    $old = $ErrorActionPreference
    $ErrorActionPreference = 'Continue'
    try { $script:out = ($script:password | & $Coffer @args 2>&1 | ForEach-Object { "$_" }) -join "`n" }
    finally { $ErrorActionPreference = $old }
    return $LASTEXITCODE
}

function Expect-Exit([int]$wanted, [int]$got) {
    if ($wanted -ne $got) { throw "exit code $got, wanted $wanted; it printed:`n$script:out" }
}

function Expect($wanted, $got, [string]$what) {
    if ("$wanted" -cne "$got") { throw "${what}: got '$got', wanted '$wanted'" }
}

# Expect-Refused runs a block that the drive has to refuse.
function Expect-Refused([string]$what, [scriptblock]$block) {
    try { & $block } catch { return }
    throw "${what}: was not refused"
}

function Check([string]$name, [scriptblock]$block) {
    $clock = [Diagnostics.Stopwatch]::StartNew()
    try {
        $remark = & $block | Select-Object -Last 1
        $script:passed++
        Say ('pass  {0,6:n2} s  {1}{2}' -f $clock.Elapsed.TotalSeconds, $name, $(if ($remark) { ": $remark" } else { '' }))
    } catch {
        $script:failed += $name
        Say ('FAIL  {0,6:n2} s  {1}' -f $clock.Elapsed.TotalSeconds, $name)
        foreach ($line in ("$($_.Exception.Message)" -split "`n")) { Say "        $line" }
    }
}

function Random-Bytes([int]$count) {
    $bytes = New-Object byte[] $count
    (New-Object Random 4711).NextBytes($bytes)
    return , $bytes
}

function Hash([string]$path) { (Get-FileHash -LiteralPath $path -Algorithm SHA256).Hash }

function Free-Letter {
    foreach ($c in 'ZYXWVUTSRQPONMLKJIHG'.ToCharArray()) {
        if (-not (Test-Path -LiteralPath "${c}:\") -and -not (Get-PSDrive -Name $c -ErrorAction SilentlyContinue)) { return "${c}:" }
    }
    throw 'no free drive letter'
}

function Unlock([string]$point) {
    Expect-Exit 0 (Run-Coffer unlock $image $point --password-stdin)
    for ($i = 0; $i -lt 50 -and -not [IO.Directory]::Exists("$point\"); $i++) { Start-Sleep -Milliseconds 100 }
    if (-not [IO.Directory]::Exists("$point\")) { throw "no drive at $point; coffer printed:`n$script:out" }
}

function Lock-Drive { Expect-Exit 0 (Run-Coffer lock $image) }

# ---------------------------------------------------------------------------------------------------------- facts
Say "coffer test on Windows, $([DateTime]::UtcNow.ToString('u'))"
$os = Get-CimInstance Win32_OperatingSystem
Say "Windows:    $($os.Caption) $($os.Version), $($os.OSArchitecture), PowerShell $($PSVersionTable.PSVersion)"
$cpu = Get-CimInstance Win32_Processor | Select-Object -First 1
Say "Processor:  $($cpu.Name), $($cpu.NumberOfLogicalProcessors) threads, $([math]::Round($os.TotalVisibleMemorySize / 1MB)) GiB"
$winfsp = Get-ItemProperty 'HKLM:\SOFTWARE\WOW6432Node\WinFsp', 'HKLM:\SOFTWARE\WinFsp' -ErrorAction SilentlyContinue | Select-Object -First 1
if ($winfsp -and $winfsp.PSObject.Properties['InstallDir']) {
    $dll = Get-Item (Join-Path $winfsp.InstallDir 'bin\winfsp-*.dll') | Select-Object -First 1
    Say "WinFsp:     $($dll.VersionInfo.ProductVersion)"
} else { Say 'WinFsp:     not installed' }
[void](Run-Coffer version)
Say "Coffer:     $($script:out -replace "`n", '; ')"
Say "Coffer SHA: $(Hash $Coffer)"
Say ''

# ------------------------------------------------------------------------------------------------------- container
Check 'create a container' {
    Expect-Exit 0 (Run-Coffer create $image --size 1GiB --label TESTDRIVE --kdf-memory 64MiB --password-stdin)
}
Check 'a wrong password is exit code 3' {
    $good = $script:password
    $script:password = 'wrong'
    try { $code = Run-Coffer ls "${image}:/" --password-stdin } finally { $script:password = $good }
    Expect-Exit 3 $code
}
if (-not $winfsp) {
    Check 'without WinFsp, unlock is exit code 10 and says what to install' {
        Expect-Exit 10 (Run-Coffer unlock $image --password-stdin)
        if ($script:out -notmatch 'WinFsp') { throw "it printed:`n$script:out" }
    }
}
$drive = Free-Letter
$root = "$drive\"
Check 'unlock to a drive letter' { Unlock $drive; "at $drive" }
if ([IO.Directory]::Exists($root)) {

# ------------------------------------------------------------------------------------------------------ properties
Check 'label, file system and sizes of the drive' {
    $info = New-Object IO.DriveInfo $drive
    Expect 'TESTDRIVE' $info.VolumeLabel 'label'
    if ($info.TotalSize -lt 900MB -or $info.AvailableFreeSpace -gt $info.TotalSize) { throw "sizes $($info.TotalSize) and $($info.AvailableFreeSpace)" }
    "$($info.DriveFormat), $([math]::Round($info.AvailableFreeSpace / 1MB)) of $([math]::Round($info.TotalSize / 1MB)) MiB free"
}
Check 'only the owner has rights' {
    $acl = Get-Acl -LiteralPath $root
    $others = @($acl.Access | Where-Object { $_.IdentityReference.Value -notmatch [regex]::Escape($env:USERNAME) })
    if ($others.Count -gt 0) { throw "rights for $($others.IdentityReference -join ', ')" }
}

# ----------------------------------------------------------------------------------------------------------- files
Check 'write, read, append, cut' {
    $data = Random-Bytes 5000000
    [IO.File]::WriteAllBytes("${root}a.bin", $data)
    $back = [IO.File]::ReadAllBytes("${root}a.bin")
    if (-not [Linq.Enumerable]::SequenceEqual([byte[]]$data, [byte[]]$back)) { throw 'content differs' }
    $f = [IO.File]::Open("${root}a.bin", 'Append'); $f.Write($data, 0, 1000); $f.Close()
    Expect 5001000 (Get-Item "${root}a.bin").Length 'length after append'
    $f = [IO.File]::Open("${root}a.bin", 'Open'); $f.SetLength(123); $f.Close()
    Expect 123 (Get-Item "${root}a.bin").Length 'length after cut'
}
Check 'truncating an existing file (CREATE_ALWAYS)' {
    [IO.File]::WriteAllText("${root}trunc.txt", 'long content'); [IO.File]::WriteAllText("${root}trunc.txt", 'x')
    Expect 'x' ([IO.File]::ReadAllText("${root}trunc.txt")) 'content'
}
Check 'CREATE_NEW refuses an existing file in any case' {
    Expect-Refused 'second create' { [IO.File]::Open("${root}TRUNC.TXT", 'CreateNew').Close() }
}
Check 'names: case is kept and does not matter' {
    [IO.File]::WriteAllText("${root}Mixed Case Name.txt", '1')
    Expect '1' ([IO.File]::ReadAllText("${root}mixed case NAME.TXT")) 'content'
    Expect 'Mixed Case Name.txt' ([IO.Path]::GetFileName([IO.Directory]::GetFiles($root, 'mixed*')[0])) 'listed'
    Rename-Item "${root}Mixed Case Name.txt" 'MIXED case name.txt'
    Expect 'MIXED case name.txt' ([IO.Path]::GetFileName([IO.Directory]::GetFiles($root, 'mixed*')[0])) 'after a rename in case only'
}
Check 'names: long, umlauts, emoji; bad ones are refused' {
    foreach ($name in @(('n' * 250 + '.txt'), "gr$([char]0xFC)$([char]0xDF)e.txt", "$([char]::ConvertFromUtf32(0x1F512)) lock.txt")) {
        [IO.File]::WriteAllText("$root$name", $name)
        Expect $name ([IO.File]::ReadAllText("$root$name")) 'content'
        [IO.File]::Delete("$root$name")
    }
    Expect-Refused '300 characters' { [IO.File]::WriteAllText("\\?\$root" + ('n' * 300), '') }
}
Check 'delete on close' {
    $f = New-Object IO.FileStream "${root}temp.tmp", 'Create', 'ReadWrite', 'Delete', 4096, 'DeleteOnClose'
    $f.WriteByte(1); $f.Flush(); $f.Close()
    if ([IO.File]::Exists("${root}temp.tmp")) { throw 'still there' }
}
Check 'delete while somebody reads' {
    [IO.File]::WriteAllText("${root}open.txt", 'hello')
    $f = [IO.File]::Open("${root}open.txt", 'Open', 'Read', 'ReadWrite, Delete')
    [IO.File]::Delete("${root}open.txt")
    Expect 104 $f.ReadByte() 'first byte of a deleted open file'
    $f.Close()
    if ([IO.File]::Exists("${root}open.txt")) { throw 'still there after the last close' }
}
Check 'replace as Office saves (ReplaceFile with a backup)' {
    [IO.File]::WriteAllText("${root}letter.docx", 'old'); [IO.File]::WriteAllText("${root}~new.tmp", 'new')
    [IO.File]::Replace("${root}~new.tmp", "${root}letter.docx", "${root}letter.bak")
    Expect 'new' ([IO.File]::ReadAllText("${root}letter.docx")) 'document'
    Expect 'old' ([IO.File]::ReadAllText("${root}letter.bak")) 'backup'
}
Check 'rename over an existing file, and into a folder' {
    [void][IO.Directory]::CreateDirectory("${root}folder\sub")
    [IO.File]::WriteAllText("${root}one.txt", '1'); [IO.File]::WriteAllText("${root}folder\two.txt", '2')
    Move-Item -Force "${root}one.txt" "${root}folder\two.txt"
    Expect '1' ([IO.File]::ReadAllText("${root}folder\two.txt")) 'content'
    [IO.Directory]::Move("${root}folder", "${root}renamed")
    Expect '1' ([IO.File]::ReadAllText("${root}renamed\two.txt")) 'content below a renamed folder'
    Expect-Refused 'removing a folder with content' { [IO.Directory]::Delete("${root}renamed") }
    [IO.Directory]::Delete("${root}renamed", $true)
}
Check 'attributes' {
    [IO.File]::WriteAllText("${root}attr.txt", 'x')
    foreach ($attr in 'Hidden', 'System', 'ReadOnly') {
        [IO.File]::SetAttributes("${root}attr.txt", $attr)
        if (-not ([IO.File]::GetAttributes("${root}attr.txt") -band [IO.FileAttributes]$attr)) { throw "$attr was not kept" }
    }
    Expect-Refused 'writing a read-only file' { [IO.File]::WriteAllText("${root}attr.txt", 'y') }
    Expect-Refused 'deleting a read-only file' { [IO.File]::Delete("${root}attr.txt") }
    [IO.File]::SetAttributes("${root}attr.txt", 'Normal'); [IO.File]::Delete("${root}attr.txt")
}
Check 'times' {
    $when = [DateTime]'2024-02-29 12:34:56'
    [IO.File]::WriteAllText("${root}time.txt", 'x')
    [IO.File]::SetLastWriteTime("${root}time.txt", $when); [IO.File]::SetCreationTime("${root}time.txt", $when)
    Expect $when ([IO.File]::GetLastWriteTime("${root}time.txt")) 'write time'
    Expect $when ([IO.File]::GetCreationTime("${root}time.txt")) 'creation time'
}
Check 'sizes: reserved, beyond the drive, beyond 4 GiB' {
    $f = [IO.File]::Open("${root}big.bin", 'Create'); $f.SetLength(50MB)
    Expect 50MB $f.Length 'length'
    Expect-Refused 'more than is free' { $f.SetLength(2GB); $f.Flush($true) }
    Expect-Refused '4 GiB' { $f.SetLength(4GB); $f.Flush($true) }
    Expect 50MB $f.Length 'length after refusals'
    $f.Close(); [IO.File]::Delete("${root}big.bin")
}
Check 'memory-mapped writing and reading' {
    $map = [IO.MemoryMappedFiles.MemoryMappedFile]::CreateFromFile("${root}map.bin", 'Create', [NullString]::Value, 1000000)
    $view = $map.CreateViewAccessor(); $view.Write(999990, [long]81985529216486895); $view.Flush(); $view.Dispose(); $map.Dispose()
    Expect 81985529216486895 ([BitConverter]::ToInt64([IO.File]::ReadAllBytes("${root}map.bin"), 999990)) 'value'
}
Check 'locks between programs' {
    $f = [IO.File]::Open("${root}lock.txt", 'Create', 'ReadWrite', 'None')
    Expect-Refused 'a second opening' { [IO.File]::Open("${root}lock.txt", 'Open').Close() }
    $f.Close()
}
Check 'a change is announced (FileSystemWatcher)' {
    $watch = New-Object IO.FileSystemWatcher $root
    $job = Start-Job { param($p) Start-Sleep -Milliseconds 500; [IO.File]::WriteAllText($p, 'x') } -ArgumentList "${root}seen.txt"
    $seen = $watch.WaitForChanged('Created', 20000)
    [void](Wait-Job $job); Remove-Job $job; $watch.Dispose()
    if ($seen.TimedOut) { throw 'nothing announced within 20 s' }
}
Check 'three thousand small files: create, list, delete' {
    [void][IO.Directory]::CreateDirectory("${root}many")
    $clock = [Diagnostics.Stopwatch]::StartNew()
    for ($i = 0; $i -lt 3000; $i++) { [IO.File]::WriteAllText("${root}many\file number $i.txt", "$i") }
    $create = $clock.Elapsed.TotalSeconds; $clock.Restart()
    Expect 3000 ([IO.Directory]::GetFiles("${root}many").Count) 'listed'
    $list = $clock.Elapsed.TotalSeconds; $clock.Restart()
    [IO.Directory]::Delete("${root}many", $true)
    'create {0:n2} s, list {1:n2} s, delete {2:n2} s' -f $create, $list, $clock.Elapsed.TotalSeconds
}
Check 'robocopy of a real tree, in and out, compared' {
    $source = Join-Path $env:windir 'Web'; if (-not (Test-Path $source)) { $source = Join-Path $env:windir 'Media' }
    robocopy $source "${root}tree" /E /R:0 /W:0 /COPY:DAT /NFL /NDL /NJH /NJS | Out-Null
    if ($LASTEXITCODE -ge 8) { throw "robocopy in: exit code $LASTEXITCODE" }
    robocopy "${root}tree" "$folder\tree" /E /R:0 /W:0 /COPY:DAT /NFL /NDL /NJH /NJS | Out-Null
    if ($LASTEXITCODE -ge 8) { throw "robocopy out: exit code $LASTEXITCODE" }
    $files = @(Get-ChildItem $source -Recurse -File)
    foreach ($file in $files) {
        $rest = $file.FullName.Substring($source.Length)
        Expect (Hash $file.FullName) (Hash "$folder\tree$rest") 'a file'
    }
    "$($files.Count) files"
}
Check "speed: $SpeedMiB MiB in and out" {
    $block = Random-Bytes 1MB
    $f = [IO.File]::Open("$folder\speed.bin", 'Create'); for ($i = 0; $i -lt $SpeedMiB; $i++) { $block[0] = $i -band 255; $f.Write($block, 0, 1MB) }; $f.Close()
    $clock = [Diagnostics.Stopwatch]::StartNew()
    Copy-Item "$folder\speed.bin" "${root}speed.bin"; $in = $clock.Elapsed.TotalSeconds; $clock.Restart()
    Copy-Item "${root}speed.bin" "$folder\speed2.bin"; $out = $clock.Elapsed.TotalSeconds; $clock.Restart()
    Copy-Item "$folder\speed.bin" "$folder\speed3.bin"; $plain = $clock.Elapsed.TotalSeconds
    Expect (Hash "$folder\speed.bin") (Hash "$folder\speed2.bin") 'content'
    'in {0:n0} MiB/s, out {1:n0} MiB/s, plain to plain {2:n0} MiB/s' -f ($SpeedMiB / $in), ($SpeedMiB / $out), ($SpeedMiB / $plain)
}

# --------------------------------------------------------------------------------------------- agent, lock, kill, check
Check 'the list shows the drive' {
    Expect-Exit 0 (Run-Coffer list)
    if ($script:out -notmatch [regex]::Escape($drive)) { throw "it printed:`n$script:out" }
}
Check 'what the command line writes, the drive shows at once' {
    [IO.File]::WriteAllText("$folder\direct.txt", 'direct')
    if ([IO.File]::Exists("${root}direct.txt")) { throw 'there before it was copied' }
    Expect-Exit 0 (Run-Coffer copy "$folder\direct.txt" "${image}:/" --password-stdin)
    Expect 'direct' ([IO.File]::ReadAllText("${root}direct.txt")) 'content'
    Expect-Exit 0 (Run-Coffer rm "${image}:/direct.txt" --password-stdin)
    if ([IO.File]::Exists("${root}direct.txt")) { throw 'still there after it was removed' }
}
Check 'lock names the program in the way (exit code 5)' {
    $f = [IO.File]::Open("${root}busy.txt", 'Create')
    try { $code = Run-Coffer lock $image } finally { $f.Close() }
    Expect-Exit 5 $code
    if ($script:out -notmatch 'powershell|pwsh') { throw "it printed:`n$script:out" }
}
Check 'lock' { Lock-Drive; if ([IO.Directory]::Exists($root)) { throw 'the drive is still there' } }
Check 'the file system is clean' { Expect-Exit 0 (Run-Coffer check $image --password-stdin) }
Check 'no program of Coffer is left' {
    Start-Sleep -Seconds 1
    $left = @(Get-Process | Where-Object { try { $_.Path -eq $Coffer } catch { $false } })
    if ($left.Count -gt 0) { throw "$($left.Count) processes" }
}
Check 'unlock read-only' {
    Expect-Exit 0 (Run-Coffer unlock $image $drive --read-only --password-stdin)
    Expect 'new' ([IO.File]::ReadAllText("${root}letter.docx")) 'content'
    Expect-Refused 'writing' { [IO.File]::WriteAllText("${root}no.txt", 'x') }
    Expect-Refused 'deleting' { [IO.File]::Delete("${root}letter.docx") }
    Lock-Drive
}
Check 'unlock to a folder' {
    $point = Join-Path $folder 'mounted'
    Unlock $point
    [IO.File]::WriteAllText("$point\in-folder.txt", 'x')
    Lock-Drive
    if ([IO.File]::Exists("$point\in-folder.txt")) { throw 'content is left outside the container' }
}
Check 'killing the agent loses nothing that was flushed' {
    Unlock $drive
    $f = [IO.File]::Open("${root}flushed.txt", 'Create'); $f.Write([byte[]](1, 2, 3), 0, 3); $f.Flush($true); $f.Close()
    Get-Process | Where-Object { try { $_.Path -eq $Coffer } catch { $false } } | Stop-Process -Force
    for ($i = 0; $i -lt 100 -and [IO.Directory]::Exists($root); $i++) { Start-Sleep -Milliseconds 100 }
    Expect-Exit 0 (Run-Coffer list)
    Unlock $drive
    Expect 3 (Get-Item "${root}flushed.txt").Length 'length'
    Lock-Drive
    Expect-Exit 0 (Run-Coffer check $image --password-stdin)
}
} else { Say 'There is no drive, so the checks of the drive were left out.' }

# --------------------------------------------------------------------------------------------------------- the end
[void](Run-Coffer lock $image --force)
try { Remove-Item -Recurse -Force -LiteralPath $folder } catch { Say "left behind: $folder" }
Say ''
Say "$script:passed passed, $($script:failed.Count) failed"
[IO.File]::WriteAllLines($Result, $script:lines)
Write-Host "`nPlease send this file back: $Result"
exit ([int]($script:failed.Count -gt 0))
